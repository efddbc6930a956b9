/** API keys, known only by their SHA-256. */
import { createHash } from "node:crypto"
import { sql } from "kysely"
import type { KeyScope } from "../../../wire/platform/access.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface ApiKeyRecord {
  id: string
  userId: string
  username: string
  name: string
  /** The last four characters. */
  hint: string
  scope: KeyScope
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
}

export interface NewApiKey {
  userId: string
  name: string
  /** The key itself; only its hash is stored. */
  key: string
  /** null: never. */
  expiresAt?: Date | null
  /** Without it, all. */
  scope?: KeyScope
}

/** Hex. Keys are long and random, so that a plain hash cannot be searched. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex")
}

/** Stores the key, which may end at once; one that is known lives again, under this name and owner. Repeatable. */
export async function storeApiKey(database: CatalogDatabase, key: NewApiKey): Promise<ApiKeyRecord> {
  const { id } = await database
    .insertInto("api_keys")
    .values({
      user_id: key.userId,
      name: key.name,
      sha256: hashOfKey(key.key),
      hint: key.key.slice(-4),
      expires_at: key.expiresAt ?? null,
      scope: key.scope ?? "all",
    })
    .onConflict((on) =>
      on.column("sha256").doUpdateSet({
        user_id: key.userId,
        name: key.name,
        revoked_at: null,
        expires_at: key.expiresAt ?? null,
        scope: key.scope ?? "all",
      }),
    )
    .returning("id")
    .executeTakeFirstOrThrow()
  return toRecord(await allKeys(database).where("api_keys.id", "=", id).executeTakeFirstOrThrow())
}

export interface ReplacedKeys {
  id: string
  /** The key was not live before as this user's and under this name. */
  isNew: boolean
  revokedIds: string[]
}

/** Stores the key as {@link storeApiKey}, and revokes all others that this user has under its name. */
export function replaceApiKeys(database: CatalogDatabase, key: NewApiKey): Promise<ReplacedKeys> {
  return inTransaction(database, async (transaction) => {
    const before = await liveKeys(transaction).where("api_keys.sha256", "=", hashOfKey(key.key)).executeTakeFirst()
    const { id } = await storeApiKey(transaction, key)
    const revoked = await transaction
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("user_id", "=", key.userId)
      .where("name", "=", key.name)
      .where("id", "!=", id)
      .where("revoked_at", "is", null)
      .returning("id")
      .execute()
    const isNew = before?.user_id !== key.userId || before.name !== key.name
    return { id, isNew, revokedIds: revoked.map((row) => row.id) }
  })
}

/** The owner of a live key, and when it ends. null: no such key, or it is not live. */
export async function findKeyOwner(
  database: CatalogDatabase,
  sha256: string,
): Promise<{ apiKeyId: string; userId: string; expiresAt: Date | null; scope: KeyScope } | null> {
  const row = await liveKeys(database).where("api_keys.sha256", "=", sha256).executeTakeFirst()
  if (row === undefined) return null
  return { apiKeyId: row.id, userId: row.user_id, expiresAt: row.expires_at, scope: row.scope }
}

/** null: the key is not live. */
export async function liveKeyScope(database: CatalogDatabase, id: string): Promise<KeyScope | null> {
  const live = liveKeys(database).clearSelect().select("api_keys.scope").where("api_keys.id", "=", id)
  return (await live.executeTakeFirst())?.scope ?? null
}

/** Stores when keys were last used, by id; an earlier time than the stored one changes nothing. */
export async function storeKeyUse(database: CatalogDatabase, uses: ReadonlyMap<string, Date>): Promise<void> {
  const ids = [...uses.keys()]
  const times = Array.from(uses.values(), (time) => time.toISOString())
  await sql`
    update api_keys k set last_used_at = u.used_at
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, used_at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.used_at)`.execute(database)
}

/** Live keys of these users, or of all when `userIds` is null; oldest first. */
export async function listApiKeys(
  database: CatalogDatabase,
  userIds: readonly string[] | null,
): Promise<ApiKeyRecord[]> {
  const query = liveKeys(database).orderBy("api_keys.created_at").orderBy("api_keys.id")
  const rows = await (userIds === null ? query : query.where("api_keys.user_id", "in", userIds)).execute()
  return rows.map(toRecord)
}

/** The key that was revoked now. null: no live key has this id, or it is not of one of `userIds`. */
export async function revokeApiKey(
  database: CatalogDatabase,
  id: string,
  userIds: readonly string[] | null,
): Promise<ApiKeyRecord | null> {
  const query = liveKeys(database).where("api_keys.id", "=", id)
  const key = await (userIds === null ? query : query.where("api_keys.user_id", "in", userIds)).executeTakeFirst()
  if (key === undefined) return null
  const { numUpdatedRows } = await database
    .updateTable("api_keys")
    .set({ revoked_at: new Date() })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst()
  return numUpdatedRows > 0 ? toRecord(key) : null
}

/** How many of a user's ended keys stay: a request goes on after the end of its key, and may store work that names it. */
const keptEndedKeys = 100
/** So many are forgotten at once; the next time goes on. */
const mostForgotten = 100

/** Forgets the user's keys that have ended but the newest, and what was begun with them. Those that stored work names stay. */
export async function forgetEndedKeys(transaction: CatalogDatabase, userId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select k.id from api_keys k
    where k.user_id = ${userId} and (k.revoked_at is not null or k.expires_at <= now())
      and not exists (select 1 from execution_jobs j where j.api_key_id = k.id)
      and not exists (select 1 from scoring_rules r where r.api_key_id = k.id)
    order by k.created_at desc offset ${keptEndedKeys} limit ${mostForgotten}
    for update`.execute(transaction)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await transaction.deleteFrom("sessions").where("api_key_id", "in", ids).execute()
  await transaction.deleteFrom("sign_in_tokens").where("api_key_id", "in", ids).execute()
  await transaction.deleteFrom("api_keys").where("id", "in", ids).execute()
}

export async function hasAdminKey(database: CatalogDatabase): Promise<boolean> {
  const keys = liveKeys(database).where("users.is_admin", "=", true).where("api_keys.scope", "=", "all")
  return (await keys.executeTakeFirst()) !== undefined
}

/** Not revoked, not at their end, of users who are not disabled. */
export function liveKeys(database: CatalogDatabase) {
  return allKeys(database)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) => eb.or([eb("api_keys.expires_at", "is", null), eb("api_keys.expires_at", ">", sql<Date>`now()`)]))
    .where("users.disabled_at", "is", null)
}

function allKeys(database: CatalogDatabase) {
  return database
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select([
      "api_keys.id",
      "api_keys.user_id",
      "users.username",
      "api_keys.name",
      "api_keys.hint",
      "api_keys.created_at",
      "api_keys.expires_at",
      "api_keys.last_used_at",
      "api_keys.scope",
    ])
}

interface KeyRow {
  id: string
  user_id: string
  username: string
  name: string
  hint: string
  scope: KeyScope
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
}

function toRecord(row: KeyRow): ApiKeyRecord {
  const { id, username, name, hint, scope } = row
  return {
    id,
    userId: row.user_id,
    username,
    name,
    hint,
    scope,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }
}
