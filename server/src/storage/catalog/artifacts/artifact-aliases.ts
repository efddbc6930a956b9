/** Names of versions inside their collections. Whoever calls has taken the project's turn (`artifact-lock.ts`). */
import { sql } from "kysely"
import { isLive } from "./artifacts.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf, rowsOf } from "../text-lists.ts"

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
