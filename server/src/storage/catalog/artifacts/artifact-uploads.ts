/** Files that come in parts: platform-wandb 9.2. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface PartRequest {
  number: number
  /** Hex. */
  md5: string
}

export interface PartRecord extends PartRequest {
  sha256: string | null
  size_bytes: number
}

export interface UploadInParts {
  id: string
  artifact_id: string
  project_id: string
  digest: string
}

/**
 * The upload of a file; its parts that did not change keep what was stored. Each number stands once in `parts`.
 * `dropped`: SHA-256 of parts that changed, which nobody needs any more.
 */
export async function ensureUpload(
  database: CatalogDatabase,
  artifact: { id: string; project_id: string },
  digest: string,
  parts: readonly PartRequest[],
): Promise<{ id: string; dropped: string[] }> {
  const { id, changed } = await inTransaction(database, async (transaction) => {
    const upload = await transaction
      .insertInto("artifact_uploads")
      .values({ artifact_id: artifact.id, digest })
      .onConflict((on) => on.columns(["artifact_id", "digest"]).doUpdateSet({ digest }))
      .returning("id")
      .executeTakeFirstOrThrow()
    const given = sql`json_to_recordset(${JSON.stringify(parts)}::json) as given(number int, md5 text)`
    const { rows } = await sql<StoredPart>`delete from artifact_parts as part using ${given}
      where part.upload_id = ${upload.id} and part.number = given.number and part.md5 <> given.md5
      returning part.sha256, part.size_bytes`.execute(transaction)
    await sql`insert into artifact_parts (upload_id, number, md5) select ${upload.id}::uuid, number, md5 from ${given}
      on conflict (upload_id, number) do nothing`.execute(transaction)
    return { id: upload.id, changed: rows }
  })
  return { id, dropped: released(database, artifact.project_id, changed) }
}

type StoredPart = Pick<PartRecord, "sha256" | "size_bytes">

/** Their bytes count no more. Returns the SHA-256 of those that were stored. */
function released(database: CatalogDatabase, projectId: string, parts: readonly StoredPart[]): string[] {
  const bytes = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (bytes > 0) usageOf(database)?.ofProject(projectId, -bytes)
  return parts.flatMap(({ sha256 }) => sha256 ?? [])
}

/** Upload of an artifact that is not committed yet. */
export async function findUpload(database: CatalogDatabase, id: string): Promise<UploadInParts | null> {
  if (!isUuid(id)) return null
  const row = await database
    .selectFrom("artifact_uploads")
    .innerJoin("artifacts", "artifacts.id", "artifact_uploads.artifact_id")
    .select(["artifact_uploads.id", "artifact_uploads.artifact_id", "artifact_uploads.digest", "artifacts.project_id"])
    .where("artifact_uploads.id", "=", id)
    .where("artifacts.state", "=", "pending")
    .executeTakeFirst()
  return row ?? null
}

/** The parts of an upload, by number. */
export async function partsOf(database: CatalogDatabase, uploadId: string): Promise<PartRecord[]> {
  return database
    .selectFrom("artifact_parts")
    .select(["number", "md5", "sha256", "size_bytes"])
    .where("upload_id", "=", uploadId)
    .orderBy("number")
    .execute()
}

/** null: the upload has no part of this number. */
export async function findPart(
  database: CatalogDatabase,
  uploadId: string,
  number: number,
): Promise<PartRequest | null> {
  const row = await database
    .selectFrom("artifact_parts")
    .select(["number", "md5"])
    .where("upload_id", "=", uploadId)
    .where("number", "=", number)
    .executeTakeFirst()
  return row ?? null
}

/** Returns the SHA-256 of what it takes the place of, or of the content itself if the part is gone; null: of nothing. */
export async function storePart(
  database: CatalogDatabase,
  upload: UploadInParts,
  { number, md5 }: PartRequest,
  content: { sha256: string; size_bytes: number },
): Promise<string | null> {
  const before = await inTransaction(database, async (transaction) => {
    const replaced = await transaction
      .selectFrom("artifact_parts")
      .select(["sha256", "size_bytes"])
      .where("upload_id", "=", upload.id)
      .where("number", "=", number)
      .where("md5", "=", md5)
      .forUpdate()
      .executeTakeFirst()
    await transaction
      .updateTable("artifact_parts")
      .set(content)
      .where("upload_id", "=", upload.id)
      .where("number", "=", number)
      .where("md5", "=", md5)
      .execute()
    return replaced
  })
  if (before === undefined) return content.sha256
  usageOf(database)?.ofProject(upload.project_id, content.size_bytes - before.size_bytes)
  return before.sha256
}

/** SHA-256 of its parts, which nobody needs any more. */
export async function removeUpload(database: CatalogDatabase, upload: UploadInParts): Promise<string[]> {
  const parts = await database
    .deleteFrom("artifact_parts")
    .where("upload_id", "=", upload.id)
    .returning(["sha256", "size_bytes"])
    .execute()
  await database.deleteFrom("artifact_uploads").where("id", "=", upload.id).execute()
  return released(database, upload.project_id, parts)
}
