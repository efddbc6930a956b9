/** Manifests that clients send before an artifact is committed: platform-wandb 9.2. */
import { usageOf } from "../../team-usage.ts"
import type { ManifestType } from "./artifacts-schema.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface ManifestRecord {
  id: string
  artifact_id: string
  type: ManifestType
  base_id: string | null
  digest: string
  sha256: string | null
  size_bytes: number
}

const columns = ["id", "artifact_id", "type", "base_id", "digest", "sha256", "size_bytes"] as const

/** The client asks twice: first for an id that its files name, then for an address, when it knows the digest. */
export async function ensureManifest(
  database: CatalogDatabase,
  { artifact_id, type, base_id, digest }: Pick<ManifestRecord, "artifact_id" | "type" | "base_id" | "digest">,
): Promise<ManifestRecord> {
  return inTransaction(database, async (transaction) => {
    // Several processes send patches of one artifact, each with a manifest of its own.
    const isFirstOfPatch = type === "PATCH" && digest === ""
    const known = isFirstOfPatch
      ? undefined
      : await transaction
          .selectFrom("artifact_manifests")
          .select(columns)
          .where("artifact_id", "=", artifact_id)
          .where("type", "=", type)
          .where("digest", "in", [digest, ""])
          .orderBy("sequence")
          .forUpdate()
          .executeTakeFirst()
    if (known !== undefined) {
      return transaction
        .updateTable("artifact_manifests")
        .set({ digest, base_id })
        .where("id", "=", known.id)
        .returning(columns)
        .executeTakeFirstOrThrow()
    }
    return transaction
      .insertInto("artifact_manifests")
      .values({ artifact_id, type, base_id, digest, sha256: null })
      .returning(columns)
      .executeTakeFirstOrThrow()
  })
}

export async function findManifest(database: CatalogDatabase, id: string): Promise<ManifestRecord | null> {
  if (!isUuid(id)) return null
  const row = await database.selectFrom("artifact_manifests").select(columns).where("id", "=", id).executeTakeFirst()
  return row ?? null
}

export async function updateManifest(
  database: CatalogDatabase,
  id: string,
  fields: Partial<Pick<ManifestRecord, "digest" | "base_id">>,
): Promise<ManifestRecord | null> {
  if (Object.keys(fields).length === 0) return findManifest(database, id)
  const row = await database
    .updateTable("artifact_manifests")
    .set({ ...fields })
    .where("id", "=", id)
    .returning(columns)
    .executeTakeFirst()
  return row ?? null
}

/** Manifests of an artifact, in the order in which they were made. */
export async function manifestsOf(database: CatalogDatabase, artifactId: string): Promise<ManifestRecord[]> {
  return database
    .selectFrom("artifact_manifests")
    .select(columns)
    .where("artifact_id", "=", artifactId)
    .orderBy("sequence")
    .execute()
}

/**
 * Makes `content` the content of the manifest. Returns the SHA-256 of the content that nothing needs any more: of what it
 * replaces (null: of nothing), or of `content` itself if the manifest is gone.
 */
export async function storeManifest(
  database: CatalogDatabase,
  projectId: string,
  manifest: ManifestRecord,
  content: { sha256: string; size_bytes: number },
): Promise<string | null> {
  const before = await inTransaction(database, async (transaction) => {
    const replaced = await transaction
      .selectFrom("artifact_manifests")
      .select(["sha256", "size_bytes"])
      .where("id", "=", manifest.id)
      .forUpdate()
      .executeTakeFirst()
    await transaction.updateTable("artifact_manifests").set(content).where("id", "=", manifest.id).execute()
    return replaced
  })
  if (before === undefined) return content.sha256
  usageOf(database)?.ofProject(projectId, content.size_bytes - before.size_bytes)
  return before.sha256
}
