/** Versions of the evaluation store's objects: publishing and deleting them (evaluation-store-objects 3). */
import { type Kysely, sql } from "kysely"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { usageOf } from "../../team-usage.ts"
import type { ObjectKind } from "./objects-schema.ts"
import type { Catalog } from "../schema.ts"
import { noSuchProject } from "../accounts/projects.ts"
import { listOf } from "../text-lists.ts"

export interface NewObjectVersion {
  objectId: string
  digest: string
  kind: ObjectKind
  baseObjectClass: string | null
  leafObjectClass: string | null
  /** JSON text. */
  val: string
  userId: string
}

/** Refused: the base classes that live versions of the same name and kind have, or the latest version, which is not the expected one. */
export type PublishResult =
  | { published: true; versionIndex: number }
  | { published: false; existingBaseObjectClasses: (string | null)[] }
  | { published: false; latest: string | null }

/**
 * Makes the version the latest one, stores it unless it is there, and brings it back if it was deleted.
 * `expectedLatest`: digest of the version that it follows; null: it is the first that lives; undefined: it follows any.
 */
export async function publishObject(
  database: CatalogDatabase,
  projectId: string,
  version: NewObjectVersion,
  expectedLatest?: string | null,
): Promise<PublishResult> {
  const { wasLive, ...result } = await inTransaction(database, async (transaction) => {
    await lockObjects(transaction, projectId)
    const live = await isLive(transaction, projectId, version)
    if (expectedLatest !== undefined) {
      const latest = await latestDigest(transaction, projectId, version)
      // The same request again, whose answer was lost, finds its own version as the latest.
      const follows = latest === expectedLatest || latest === version.digest
      if (!follows) return { wasLive: live, published: false as const, latest }
    }
    const existingBaseObjectClasses = live ? [] : await otherClasses(transaction, projectId, version)
    if (existingBaseObjectClasses.length > 0)
      return { wasLive: live, published: false as const, existingBaseObjectClasses }
    await namesake(transaction, projectId, version)
      .set({ is_latest: false })
      .where("is_latest", "=", true)
      .where("digest", "!=", version.digest)
      .execute()
    const { version_index } = live
      ? await namesake(transaction, projectId, version)
          .set({ is_latest: true })
          .where("digest", "=", version.digest)
          .returning("version_index")
          .executeTakeFirstOrThrow()
      : await store(transaction, projectId, version)
    return { wasLive: live, published: true as const, versionIndex: version_index }
  })
  if (result.published && !wasLive) usageOf(database)?.ofProject(projectId, Buffer.byteLength(version.val))
  return result
}

/**
 * Changes to the versions of one project come one after another: their numbers have no gaps and no twins.
 * @throws {HeddleError} `project_not_found`: it was deleted.
 */
export async function lockObjects(transaction: Kysely<Catalog>, projectId: string): Promise<void> {
  const project = await transaction
    .selectFrom("projects")
    .select("id")
    .where("id", "=", projectId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project === undefined) throw noSuchProject()
}

async function isLive(transaction: Kysely<Catalog>, projectId: string, version: NewObjectVersion): Promise<boolean> {
  const row = await transaction
    .selectFrom("object_versions")
    .select("deleted_at")
    .where("project_id", "=", projectId)
    .where("object_id", "=", version.objectId)
    .where("digest", "=", version.digest)
    .executeTakeFirst()
  return row?.deleted_at === null
}

async function latestDigest(
  transaction: Kysely<Catalog>,
  projectId: string,
  { kind, objectId }: NewObjectVersion,
): Promise<string | null> {
  const row = await transaction
    .selectFrom("object_versions")
    .select("digest")
    .where("project_id", "=", projectId)
    .where("kind", "=", kind)
    .where("object_id", "=", objectId)
    .where("is_latest", "=", true)
    .executeTakeFirst()
  return row?.digest ?? null
}

/** The base classes that live versions of the same name and kind have, when they are others. */
export async function otherClasses(
  database: Kysely<Catalog>,
  projectId: string,
  version: Pick<NewObjectVersion, "objectId" | "kind" | "baseObjectClass">,
): Promise<(string | null)[]> {
  const rows = await database
    .selectFrom("object_versions")
    .select("base_object_class")
    .distinct()
    .where("project_id", "=", projectId)
    .where("kind", "=", version.kind)
    .where("object_id", "=", version.objectId)
    .where("deleted_at", "is", null)
    .where("base_object_class", "is distinct from", version.baseObjectClass)
    .orderBy("base_object_class")
    .execute()
  return rows.map((row) => row.base_object_class)
}

function namesake(transaction: Kysely<Catalog>, projectId: string, { kind, objectId }: NewObjectVersion) {
  return transaction
    .updateTable("object_versions")
    .where("project_id", "=", projectId)
    .where("kind", "=", kind)
    .where("object_id", "=", objectId)
}

async function store(transaction: Kysely<Catalog>, projectId: string, version: NewObjectVersion) {
  const { objectId, digest, kind, val } = version
  return transaction
    .insertInto("object_versions")
    .values(({ selectFrom, fn }) => ({
      project_id: projectId,
      object_id: objectId,
      digest,
      kind,
      version_index: selectFrom("object_versions")
        .select(sql<number>`${fn.countAll()}::integer`.as("count"))
        .where("project_id", "=", projectId)
        .where("kind", "=", kind)
        .where("object_id", "=", objectId),
      is_latest: true,
      base_object_class: version.baseObjectClass,
      leaf_object_class: version.leafObjectClass,
      val,
      size_bytes: Buffer.byteLength(val),
      wb_user_id: version.userId,
    }))
    .onConflict((on) =>
      on.columns(["project_id", "object_id", "digest"]).doUpdateSet((row) => ({
        is_latest: true,
        val: row.ref("excluded.val"),
        size_bytes: row.ref("excluded.size_bytes"),
        wb_user_id: row.ref("excluded.wb_user_id"),
        published: row.ref("excluded.published"),
        created_at: row.ref("excluded.created_at"),
        deleted_at: null,
      })),
    )
    .returning("version_index")
    .executeTakeFirstOrThrow()
}

export interface DeletedVersion {
  size_bytes: number
  digest: string
  base_object_class: string | null
  leaf_object_class: string | null
}

/** Deletes live versions with their tags and aliases; of what remains, the newest becomes the latest. */
export async function deleteVersions(
  database: CatalogDatabase,
  projectId: string,
  objectId: string,
  digests: readonly string[],
): Promise<DeletedVersion[]> {
  return inTransaction(database, async (transaction) => {
    await lockObjects(transaction, projectId)
    const deleted = await transaction
      .updateTable("object_versions")
      // The value goes; its size stays for those who look at what there was.
      .set({ deleted_at: new Date(), is_latest: false, val: "" })
      .where("project_id", "=", projectId)
      .where("object_id", "=", objectId)
      .where("digest", "in", listOf(digests))
      .where("deleted_at", "is", null)
      .returning(["digest", "base_object_class", "leaf_object_class", "size_bytes"])
      .execute()
    for (const table of ["object_tags", "object_aliases"] as const) {
      await transaction
        .deleteFrom(table)
        .where("project_id", "=", projectId)
        .where("object_id", "=", objectId)
        .where("digest", "in", listOf(digests))
        .execute()
    }
    await promoteNewest(transaction, projectId, objectId)
    return deleted
  })
}

async function promoteNewest(transaction: Kysely<Catalog>, projectId: string, objectId: string): Promise<void> {
  await sql`
    update object_versions set is_latest = true
    where project_id = ${projectId} and object_id = ${objectId} and published in (
      select max(published) from object_versions
      where project_id = ${projectId} and object_id = ${objectId} and deleted_at is null
      group by kind having not bool_or(is_latest)
    )`.execute(transaction)
}
