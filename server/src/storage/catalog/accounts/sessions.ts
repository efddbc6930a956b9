/** Sessions of browsers. Which of them live is asked with the times of the limits, which an operator may change. */
import { liveKeys } from "./api-keys.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface SessionRecord {
  id: string
  userId: string
  username: string
  userAgent: string
  createdAt: Date
  lastUsedAt: Date
}

export interface NewSession {
  sha256: string
  userId: string
  apiKeyId: string
  userAgent: string
}

/** How long a session lives, in milliseconds: since its last use, and since it began. */
export interface SessionTimes {
  idle: number
  total: number
}

/** Stores it, and removes all others of the user but the newest that live, so that there are about `most` at the most. */
export function createSession(
  database: CatalogDatabase,
  session: NewSession,
  most: number,
  times: SessionTimes,
): Promise<SessionRecord> {
  return inTransaction(database, async (transaction) => {
    const { id } = await transaction
      .insertInto("sessions")
      .values({
        sha256: session.sha256,
        user_id: session.userId,
        api_key_id: session.apiKeyId,
        user_agent: session.userAgent,
      })
      .returning("id")
      .executeTakeFirstOrThrow()
    const kept = liveSessions(transaction, times)
      .clearSelect()
      .select("sessions.id")
      .where("sessions.user_id", "=", session.userId)
      .where("sessions.id", "!=", id)
      .orderBy("sessions.created_at", "desc")
      .limit(most - 1)
    await transaction
      .deleteFrom("sessions")
      .where("user_id", "=", session.userId)
      .where("id", "!=", id)
      .where("id", "not in", kept)
      .execute()
    return toRecord(await liveSessions(transaction, times).where("sessions.id", "=", id).executeTakeFirstOrThrow())
  })
}

/** The live session with this cookie, and the hash of the key that it was made with. */
export async function findSession(
  database: CatalogDatabase,
  sha256: string,
  times: SessionTimes,
): Promise<(SessionRecord & { keySha256: string }) | null> {
  const row = await liveSessions(database, times)
    .innerJoin("api_keys", "api_keys.id", "sessions.api_key_id")
    .select("api_keys.sha256 as key_sha256")
    .where("sessions.sha256", "=", sha256)
    .executeTakeFirst()
  return row === undefined ? null : { ...toRecord(row), keySha256: row.key_sha256 }
}

export async function storeSessionUse(database: CatalogDatabase, id: string): Promise<void> {
  await database.updateTable("sessions").set({ last_used_at: new Date() }).where("id", "=", id).execute()
}

/** Live sessions of one user, or of all when `userId` is null; newest first. */
export async function listSessions(
  database: CatalogDatabase,
  userId: string | null,
  times: SessionTimes,
): Promise<SessionRecord[]> {
  const query = liveSessions(database, times).orderBy("sessions.created_at", "desc").orderBy("sessions.id")
  const rows = await (userId === null ? query : query.where("sessions.user_id", "=", userId)).execute()
  return rows.map(toRecord)
}

/** The session that ended now. null: no live session has this id, or it is not `userId`'s. */
export async function endSession(
  database: CatalogDatabase,
  id: string,
  userId: string | null,
  times: SessionTimes,
): Promise<SessionRecord | null> {
  if (!isUuid(id)) return null
  const live = liveSessions(database, times).where("sessions.id", "=", id)
  const session = await (userId === null ? live : live.where("sessions.user_id", "=", userId)).executeTakeFirst()
  if (session === undefined) return null
  const { numDeletedRows } = await database.deleteFrom("sessions").where("id", "=", id).executeTakeFirst()
  return numDeletedRows > 0 ? toRecord(session) : null
}

/** Not too old, used lately, and of a live key. */
function liveSessions(database: CatalogDatabase, { idle, total }: SessionTimes) {
  return database
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select([
      "sessions.id",
      "sessions.user_id",
      "users.username",
      "sessions.user_agent",
      "sessions.created_at",
      "sessions.last_used_at",
    ])
    .where("sessions.created_at", ">", new Date(Date.now() - total))
    .where("sessions.last_used_at", ">", new Date(Date.now() - idle))
    .where("sessions.api_key_id", "in", liveKeys(database).clearSelect().select("api_keys.id"))
}

interface SessionRow {
  id: string
  user_id: string
  username: string
  user_agent: string
  created_at: Date
  last_used_at: Date
}

function toRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    userId: row.user_id,
    username: row.username,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
}
