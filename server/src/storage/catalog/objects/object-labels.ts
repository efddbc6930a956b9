/** Tags and aliases of object versions: evaluation-store-objects 2.7, 2.8 and 4. */
import { type Kysely, sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"
import { lockObjects } from "./objects.ts"
import type { Catalog } from "../schema.ts"
import { listOf, rowsOf } from "../text-lists.ts"

/** A version by its content digest. */
export interface VersionKey {
  objectId: string
  digest: string
}

/** Adds those that the version lacks. Returns whether there is such a live version. */
export async function addTags(
  database: CatalogDatabase,
  projectId: string,
  version: VersionKey,
  tags: readonly string[],
): Promise<boolean> {
  return withLiveVersion(database, projectId, version, async (transaction) => {
    await sql`
      insert into object_tags (project_id, object_id, digest, tag)
      select ${projectId}, ${version.objectId}, ${version.digest}, tag
      from ${rowsOf(tags)} as tag
      on conflict do nothing`.execute(transaction)
  })
}

export async function removeTags(
  database: CatalogDatabase,
  projectId: string,
  { objectId, digest }: VersionKey,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return
  await database
    .deleteFrom("object_tags")
    .where("project_id", "=", projectId)
    .where("object_id", "=", objectId)
    .where("digest", "=", digest)
    .where("tag", "in", listOf(tags))
    .execute()
}

/** Makes the version the one that each alias names. Returns whether there is such a live version. */
export async function setAliases(
  database: CatalogDatabase,
  projectId: string,
  version: VersionKey,
  aliases: readonly string[],
): Promise<boolean> {
  return withLiveVersion(database, projectId, version, async (transaction) => {
    await sql`
      insert into object_aliases (project_id, object_id, alias, digest)
      select ${projectId}, ${version.objectId}, alias, ${version.digest}
      from ${rowsOf(aliases)} as alias
      on conflict (project_id, object_id, alias) do update set digest = excluded.digest`.execute(transaction)
  })
}

export async function removeAliases(
  database: CatalogDatabase,
  projectId: string,
  objectId: string,
  aliases: readonly string[],
): Promise<void> {
  if (aliases.length === 0) return
  await database
    .deleteFrom("object_aliases")
    .where("project_id", "=", projectId)
    .where("object_id", "=", objectId)
    .where("alias", "in", listOf(aliases))
    .execute()
}

/** Distinct tags of a project, sorted by code point. */
export async function listTags(database: CatalogDatabase, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("object_tags")
    .select("tag")
    .distinct()
    .where("project_id", "=", projectId)
    .orderBy("tag")
    .execute()
  return rows.map((row) => row.tag)
}

/** Distinct aliases of a project, sorted by code point. */
export async function listAliases(database: CatalogDatabase, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("object_aliases")
    .select("alias")
    .distinct()
    .where("project_id", "=", projectId)
    .orderBy("alias")
    .execute()
  return rows.map((row) => row.alias)
}

/** Labels of one project are given one request after another, and never to a version that is just being deleted. */
async function withLiveVersion(
  database: CatalogDatabase,
  projectId: string,
  { objectId, digest }: VersionKey,
  write: (transaction: Kysely<Catalog>) => Promise<void>,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    await lockObjects(transaction, projectId)
    const live = await transaction
      .selectFrom("object_versions")
      .select("digest")
      .where("project_id", "=", projectId)
      .where("object_id", "=", objectId)
      .where("digest", "=", digest)
      .where("deleted_at", "is", null)
      .executeTakeFirst()
    if (live === undefined) return false
    await write(transaction)
    return true
  })
}
