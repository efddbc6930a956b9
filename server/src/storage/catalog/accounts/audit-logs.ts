/**
 * The record of changes: who did what to what, by which request. Entries are only added, in the transaction of the
 * change where the change is one of the catalog. They name things and hold no payload and no secret.
 */
import { sql } from "kysely"
import type { AuditType } from "../../../wire/platform/audit-log.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { AuditOutcome } from "../schema.ts"

/** A principal is one. null: the server itself. */
export type AuditActor = { userId: string; username: string; apiKeyId: string; requestId: string } | null

export interface AuditEntry {
  type: AuditType
  /** The team's name; null for what belongs to none. */
  team: string | null
  resourceId: string
  /** Names, ids and counts. */
  details?: Readonly<Record<string, unknown>>
}

export type RecordEntry = (entry: AuditEntry) => Promise<void>

/** Runs `work` in one transaction with the entries that it records. */
export function audited<T>(
  database: CatalogDatabase,
  actor: AuditActor,
  work: (transaction: CatalogDatabase, record: RecordEntry) => Promise<T>,
): Promise<T> {
  return inTransaction(database, (transaction) =>
    work(transaction, (entry) => addEntry(transaction, actor, entry, "succeeded")),
  )
}

/** Ids that one entry names; a request may delete many more. */
const mostNamed = 100

/** The entry for many things that were deleted together. */
export function manyDeleted(ids: readonly string[], count = ids.length): { ids: string[]; count: number } {
  return { ids: ids.slice(0, mostNamed), count }
}

/**
 * For a change outside of the catalog: one entry before `work` and one after it. When the server ends in between, the
 * first tells that the outcome is not known. `known`: details that only the result tells.
 */
export async function auditedAround<T>(
  database: CatalogDatabase,
  actor: AuditActor,
  entry: AuditEntry,
  work: () => Promise<T>,
  known: (result: T) => AuditEntry["details"] = () => ({}),
): Promise<T> {
  await addEntry(database, actor, entry, "begun")
  try {
    const result = await work()
    await addEntry(database, actor, { ...entry, details: { ...entry.details, ...known(result) } }, "succeeded")
    return result
  } catch (error) {
    // The failure is what the caller has to hear of, also when it cannot be recorded.
    await addEntry(database, actor, entry, "failed").catch(() => undefined)
    throw error
  }
}

async function addEntry(
  database: CatalogDatabase,
  actor: AuditActor,
  { type, team, resourceId, details = {} }: AuditEntry,
  outcome: AuditOutcome,
): Promise<void> {
  await database
    .insertInto("audit_logs")
    .values({
      type,
      outcome,
      actor_user_id: actor?.userId ?? null,
      actor_username: actor?.username ?? null,
      actor_api_key_id: actor?.apiKeyId ?? null,
      request_id: actor?.requestId ?? null,
      team,
      resource_id: resourceId,
      details: JSON.stringify(details),
    })
    .execute()
}

export interface AuditFilter {
  types: readonly string[]
  /** Ids of users. */
  actorIds: readonly string[]
  resourceIds: readonly string[]
  teams: readonly string[]
  /** Unix seconds. */
  from: number | null
  before: number | null
}

export interface AuditRecord {
  id: string
  type: AuditType
  outcome: AuditOutcome
  createdAt: Date
  userId: string | null
  username: string | null
  apiKeyId: string | null
  requestId: string | null
  team: string | null
  resourceId: string
  details: { [name: string]: unknown }
}

/** Newest first. `after`: the id of the entry that the page begins behind. */
export async function listAuditLogs(
  database: CatalogDatabase,
  filter: AuditFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<AuditRecord[]> {
  const rows = await database
    .selectFrom("audit_logs")
    .selectAll()
    .where((eb) => eb.and(conditions(filter)))
    .$if(after !== null, (query) =>
      query.where("sequence", "<", (eb) =>
        eb.selectFrom("audit_logs as cursor").select("cursor.sequence").where("cursor.id", "=", after),
      ),
    )
    .orderBy("sequence", "desc")
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    outcome: row.outcome,
    createdAt: row.created_at,
    userId: row.actor_user_id,
    username: row.actor_username,
    apiKeyId: row.actor_api_key_id,
    requestId: row.request_id,
    team: row.team,
    resourceId: row.resource_id,
    details: row.details,
  }))
}

function conditions({ types, actorIds, resourceIds, teams, from, before }: AuditFilter) {
  return [
    ...(types.length === 0 ? [] : [sql<boolean>`type = any(${types})`]),
    ...(actorIds.length === 0 ? [] : [sql<boolean>`actor_user_id = any(${actorIds.filter(isUuid)}::uuid[])`]),
    ...(resourceIds.length === 0 ? [] : [sql<boolean>`resource_id = any(${resourceIds})`]),
    ...(teams.length === 0 ? [] : [sql<boolean>`team = any(${teams})`]),
    ...(from === null ? [] : [sql<boolean>`created_at >= to_timestamp(${from})`]),
    ...(before === null ? [] : [sql<boolean>`created_at < to_timestamp(${before})`]),
  ]
}

export async function auditLogExists(database: CatalogDatabase, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  return (await database.selectFrom("audit_logs").select("id").where("id", "=", id).executeTakeFirst()) !== undefined
}

/** Removes entries that are older; returns how many. */
export function removeAuditLogs(database: CatalogDatabase, days: number): Promise<number> {
  return inTransaction(database, async (transaction) => {
    await sql`select set_config('heddle.audit_retention', 'on', true)`.execute(transaction)
    const { numDeletedRows } = await transaction
      .deleteFrom("audit_logs")
      .where("created_at", "<", sql<Date>`now() - make_interval(days => ${days})`)
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
}
