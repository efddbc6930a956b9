/** Names of versions inside their collections. Who changes them has taken the project's turn (`artifact-lock.ts`). */
import { sql } from "kysely"
import type { CollectionRecord } from "./artifact-collections.ts"
import { isLive } from "./live-artifacts.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { idListOf, listOf, rowsOf } from "../text-lists.ts"

export interface Membership {
  collection_id: string
  artifact_id: string
}

/** An alias that another version has moves to this one. */
export async function setAliases(
  transaction: CatalogDatabase,
  { collection_id, artifact_id }: Membership,
  aliases: readonly string[],
): Promise<void> {
  if (aliases.length === 0) return
  await sql`insert into artifact_aliases (collection_id, artifact_id, alias)
    select distinct ${collection_id}::uuid, ${artifact_id}::uuid, value from ${rowsOf(aliases)}
    on conflict (collection_id, alias) do update set artifact_id = excluded.artifact_id`.execute(transaction)
}

/** Those that the version has; others stay as they are. */
export async function removeAliases(
  transaction: CatalogDatabase,
  { collection_id, artifact_id }: Membership,
  aliases: readonly string[],
): Promise<void> {
  if (aliases.length === 0) return
  await transaction
    .deleteFrom("artifact_aliases")
    .where("collection_id", "=", collection_id)
    .where("artifact_id", "=", artifact_id)
    .where("alias", "in", listOf(aliases))
    .execute()
}

/** Gives `latest` to the highest version that is left, in a collection where none has it. */
export async function restoreLatest(transaction: CatalogDatabase, collectionId: string): Promise<void> {
  await sql`insert into artifact_aliases (collection_id, artifact_id, alias)
    select m.collection_id, m.artifact_id, 'latest' from artifact_memberships m
    join artifacts on artifacts.id = m.artifact_id
    where m.collection_id = ${collectionId} and ${isLive}
    order by m.version desc limit 1
    on conflict (collection_id, alias) do nothing`.execute(transaction)
}

/** Makes the version a member of the collection; returns its number there, which it keeps when it is one already. */
export async function addMember(
  transaction: CatalogDatabase,
  { collection_id, artifact_id }: Membership,
): Promise<number> {
  const known = await transaction
    .selectFrom("artifact_memberships")
    .select("version")
    .where("collection_id", "=", collection_id)
    .where("artifact_id", "=", artifact_id)
    .executeTakeFirst()
  if (known !== undefined) return known.version
  const { version } = await transaction
    .updateTable("artifact_collections")
    .set((eb) => ({ next_version: eb("next_version", "+", 1), updated_at: sql<Date>`now()` }))
    .where("id", "=", collection_id)
    .returning(sql<number>`next_version - 1`.as("version"))
    .executeTakeFirstOrThrow()
  await transaction.insertInto("artifact_memberships").values({ collection_id, artifact_id, version }).execute()
  return version
}

export interface AliasRecord {
  id: string
  alias: string
  artifact_id: string
  collection_id: string
  collection: string
  kind: CollectionRecord["kind"]
  project_id: string
  project: string
  entity: string
}

/** Aliases of these versions, in all collections. */
export async function aliasesOf(database: CatalogDatabase, artifactIds: readonly string[]): Promise<AliasRecord[]> {
  if (artifactIds.length === 0) return []
  return namedAliases(database)
    .where("artifact_aliases.artifact_id", "in", idListOf(artifactIds))
    .orderBy("artifact_aliases.alias")
    .execute()
}

/** Strictly after the alias `after`; null begins with the first. */
export async function listAliases(
  database: CatalogDatabase,
  collectionId: string,
  after: string | null,
  limit: number,
): Promise<AliasRecord[]> {
  let rows = namedAliases(database).where("artifact_aliases.collection_id", "=", collectionId)
  if (after !== null) rows = rows.where(sql<boolean>`artifact_aliases.alias collate "C" > ${after}`)
  return rows
    .orderBy(sql`artifact_aliases.alias collate "C"`)
    .limit(limit)
    .execute()
}

function namedAliases(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_aliases")
    .innerJoin("artifact_collections", "artifact_collections.id", "artifact_aliases.collection_id")
    .innerJoin("projects", "projects.id", "artifact_collections.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["artifact_aliases.id", "artifact_aliases.alias", "artifact_aliases.artifact_id"])
    .select(["artifact_collections.id as collection_id", "artifact_collections.name as collection"])
    .select(["artifact_collections.kind", "artifact_collections.project_id"])
    .select(["projects.name as project", "entities.name as entity"])
}
