/**
 * Deletes the calls that are older than their project keeps them. Servers that share the stores divide the projects among
 * themselves: each takes a turn at one, and waits for the turns of others, so that what a killed one left is done as well.
 */
import { randomUUID } from "node:crypto"
import type { Log } from "../log.ts"
import { isStoreUnavailable } from "../errors.ts"
import { auditedAround } from "./catalog/accounts/audit-logs.ts"
import {
  endTurn,
  keepsTurn,
  nextRetentionTurn,
  othersAtRetention,
  passBegins,
  type RetentionTurn,
} from "./catalog/accounts/call-retention.ts"
import type { Stores } from "./open-stores.ts"
import { usageOf } from "./team-usage.ts"
import {
  deleteExpired,
  type ExpiredCalls,
  type ExpiredRange,
  findExpired,
  forgetExpiredStarts,
} from "./traces/calls/removal/expired-calls.ts"
import { sleepAtMost } from "../work/sleep.ts"

export type ExpiringStores = Pick<Stores, "catalog" | "traces">

const dayMs = 24 * 60 * 60 * 1000
/** While another server is at a project; it doubles up to the longer one. */
const waitMs = 250
const mostWaitMs = 30_000

/** Resolves when every project with a limit was gone through, here or by another server; returns how many calls went here. */
export async function removeExpiredCalls(
  stores: ExpiringStores,
  log: Log,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const { catalog } = stores
  const owner = randomUUID()
  const pass = await passBegins(catalog)
  let removed = 0
  for (let wait = waitMs; !signal.aborted;) {
    const turn = await nextRetentionTurn(catalog, owner, pass)
    if (turn !== null) {
      removed += await takeTurn(stores, turn, log, signal)
      wait = waitMs
    } else if (await othersAtRetention(catalog, pass)) {
      await sleepAtMost(wait, signal)
      wait = Math.min(wait * 2, mostWaitMs)
    } else break
  }
  return removed
}

/** One project that fails does not keep the others from it. */
async function takeTurn(stores: ExpiringStores, turn: RetentionTurn, log: Log, signal: AbortSignal): Promise<number> {
  let isThrough = false
  try {
    const { removed, isWhole } = await removeFrom(stores, turn, signal)
    isThrough = isWhole
    if (removed > 0)
      log.info({ project: turn.projectId, removed }, "calls past the limit of their project were deleted")
    return removed
  } catch (error) {
    if (isStoreUnavailable(error)) throw error
    isThrough = true
    log.error({ err: error, project: turn.projectId }, "calls past the limit of their project could not be deleted")
    return 0
  } finally {
    // While the catalog is away; the turn then ends by its time.
    await endTurn(stores.catalog, turn, isThrough).catch(() => undefined)
  }
}

interface Removal {
  removed: number
  /** false: the server stops, or the limit was changed meanwhile. */
  isWhole: boolean
}

async function removeFrom(stores: ExpiringStores, turn: RetentionTurn, signal: AbortSignal): Promise<Removal> {
  const until = new Date(Date.now() - turn.retentionDays * dayMs).toISOString()
  const expired = { projectId: turn.projectId, startedUntil: until.slice(0, -1).replace("T", " ") }
  const range = await findExpired(stores.traces, expired)
  if (range === null) return { removed: 0, isWhole: true }
  const details = { retention_days: turn.retentionDays, started_until: until, count: range.count }
  const entry = { type: "call.deleted", team: turn.entity, resourceId: turn.project, details } as const
  const removal = await auditedAround(
    stores.catalog,
    null,
    entry,
    () => removeRange(stores, turn, { expired, range, signal }),
    ({ removed }) => ({ count: removed }),
  )
  if (removal.removed > 0) usageOf(stores.catalog)?.changed(turn.entityId)
  return removal
}

async function removeRange(
  { catalog, traces }: ExpiringStores,
  turn: RetentionTurn,
  { expired, range, signal }: { expired: ExpiredCalls; range: ExpiredRange; signal: AbortSignal },
): Promise<Removal> {
  const removal = { removed: 0, isWhole: false }
  // The counting may have taken long.
  if (!(await keepsTurn(catalog, turn))) return removal
  for await (const count of deleteExpired(traces, expired, range)) {
    removal.removed += count
    if (signal.aborted || !(await keepsTurn(catalog, turn))) return removal
  }
  await forgetExpiredStarts(traces, expired)
  return { ...removal, isWhole: true }
}
