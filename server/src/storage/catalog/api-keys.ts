/** API keys, known only by their SHA-256. */
import { createHash } from "node:crypto"
import type { CatalogDatabase } from "./open-catalog.ts"

export interface ApiKeyRecord {
  id: string
  userId: string
  username: string
  name: string
  /** The last four characters. */
  hint: string
  createdAt: Date
}

export interface NewApiKey {
  userId: string
  name: string
  /** The key itself; only its hash is stored. */
  key: string
}

/** Hex. Keys are long and random, so that a plain hash cannot be searched. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex")
}

/** Stores the key; one that was revoked lives again. Repeatable. */
export async function storeApiKey(database: CatalogDatabase, key: NewApiKey): Promise<ApiKeyRecord> {
  const { id } = await database
    .insertInto("api_keys")
    .values({ user_id: key.userId, name: key.name, sha256: hashOfKey(key.key), hint: key.key.slice(-4) })
    .onConflict((on) => on.column("sha256").doUpdateSet({ user_id: key.userId, revoked_at: null }))
    .returning("id")
    .executeTakeFirstOrThrow()
  const record = await liveKeys(database).where("api_keys.id", "=", id).executeTakeFirstOrThrow()
  return toRecord(record)
}

/** Whose live key it is. null: no such key, or it was revoked. */
export async function findKeyOwner(
  database: CatalogDatabase,
  sha256: string,
): Promise<{ apiKeyId: string; userId: string } | null> {
  const row = await database
    .selectFrom("api_keys")
    .select(["id", "user_id"])
    .where("sha256", "=", sha256)
    .where("revoked_at", "is", null)
    .executeTakeFirst()
  return row === undefined ? null : { apiKeyId: row.id, userId: row.user_id }
}

export async function isLiveKey(database: CatalogDatabase, id: string): Promise<boolean> {
  const row = await database
    .selectFrom("api_keys")
    .select("id")
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst()
  return row !== undefined
}

/** Live keys of one user, or of all when `userId` is null; oldest first. */
export async function listApiKeys(database: CatalogDatabase, userId: string | null): Promise<ApiKeyRecord[]> {
  const query = liveKeys(database).orderBy("api_keys.created_at").orderBy("api_keys.id")
  const rows = await (userId === null ? query : query.where("api_keys.user_id", "=", userId)).execute()
  return rows.map(toRecord)
}

/** The hash of the key that was revoked now. null: no live key has this id, or it is not `userId`'s. */
export async function revokeApiKey(
  database: CatalogDatabase,
  id: string,
  userId: string | null,
): Promise<string | null> {
  const query = database
    .updateTable("api_keys")
    .set({ revoked_at: new Date() })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .returning("sha256")
  const row = await (userId === null ? query : query.where("user_id", "=", userId)).executeTakeFirst()
  return row?.sha256 ?? null
}

export async function hasAdminKey(database: CatalogDatabase): Promise<boolean> {
  const row = await database
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select("api_keys.id")
    .where("users.is_admin", "=", true)
    .where("api_keys.revoked_at", "is", null)
    .executeTakeFirst()
  return row !== undefined
}

function liveKeys(database: CatalogDatabase) {
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
    ])
    .where("api_keys.revoked_at", "is", null)
}

interface KeyRow {
  id: string
  user_id: string
  username: string
  name: string
  hint: string
  created_at: Date
}

function toRecord(row: KeyRow): ApiKeyRecord {
  const { id, username, name, hint } = row
  return { id, userId: row.user_id, username, name, hint, createdAt: row.created_at }
}
