/** Calls that wait to be scored: put there with the position that they were read to, taken out with what became of them. */
import { sql } from "kysely"
import { inTransaction } from "../in-transaction.ts"
import { isoText } from "../iso-time.ts"
import { leaseEnd } from "../lease-end.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { lastErrors } from "./scoring-rules.ts"

export interface MatchedCalls {
  ruleId: string
  seen: number
  matched: number
  sampled: number
  /** How many of the sampled calls the queue had no room for. */
  overflowed: number
  /** `at`: milliseconds since 1970. */
  calls: readonly { id: string; at: number }[]
}

/** All of it or nothing: what is read again after a kill was not counted. */
export async function storeMatched(
  database: CatalogDatabase,
  { journal, position }: { journal: string; position: number },
  matches: readonly MatchedCalls[],
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    for (const { ruleId, seen, matched, sampled, overflowed, calls } of matches) {
      // It locks the rule, so that who works on it sees these calls and their number together.
      await sql`
        update scoring_rules set seen = seen + ${seen}, matched = matched + ${matched}, sampled = sampled + ${sampled},
          overflowed = overflowed + ${overflowed} where id = ${ruleId}`.execute(transaction)
      if (calls.length === 0) continue
      await sql`
        with added as (
          insert into scoring_items (rule_id, call_id, arrived_at)
          select r.id, c.id, to_timestamp(c.at / 1000.0)
          from scoring_rules r, json_to_recordset(${JSON.stringify(calls)}::json) as c (id text, at float8)
          where r.id = ${ruleId}
          on conflict do nothing returning 1)
        update scoring_rules set waiting = waiting + (select count(*) from added) where id = ${ruleId}`.execute(
        transaction,
      )
    }
    await transaction
      .insertInto("scoring_positions")
      .values({ journal, position })
      .onConflict((conflict) => conflict.column("journal").doUpdateSet({ position, updated_at: sql<Date>`now()` }))
      .execute()
  })
}

/** null: nothing of the journal was read yet. */
export async function matchedUpTo(database: CatalogDatabase, journal: string): Promise<number | null> {
  const row = await database
    .selectFrom("scoring_positions")
    .select("position")
    .where("journal", "=", journal)
    .executeTakeFirst()
  return row === undefined ? null : Number(row.position)
}

export interface ClaimedRule {
  id: string
  lease: string
  projectId: string
  /** `entity/project`. */
  projectName: string
  name: string
  ruleRef: string
  /** It is what was published as a monitor. */
  isMonitor: boolean
  definition: string
  /** ISO 8601, UTC. */
  updated_at: string
  userId: string
  apiKeyId: string
  /** Calls of judges since midnight UTC. */
  usedJudgeCalls: number
  usedTokens: number
}

export interface RuleClaim {
  lease: string
  leaseSeconds: number
  /** Leases of the rules that this server works on. */
  held: readonly string[]
  /** Of those, a team may have this many. */
  mostOfTeam: number
}

/** Claims, of the rules that calls wait for, the one that was worked on longest ago. Several servers may ask; each rule goes to one. */
export async function claimScoringRule(
  database: CatalogDatabase,
  { lease, leaseSeconds, held, mostOfTeam }: RuleClaim,
): Promise<ClaimedRule | null> {
  const { rows } = await sql<ClaimedRule>`
    with next as materialized (
      select r.id from scoring_rules r join projects p on p.id = r.project_id
      where r.is_active and r.stopped_reason is null and r.waiting > 0
        and (r.lease_expires_at is null or r.lease_expires_at < now())
        and exists (select 1 from scoring_items i where i.rule_id = r.id and i.due_at <= now())
        and (select count(*) from scoring_rules o join projects op on op.id = o.project_id
          where o.lease_owner = any(${held}) and op.entity_id = p.entity_id) < ${mostOfTeam}
      order by r.worked_at nulls first, r.id
      limit 1 for update of r skip locked)
    update scoring_rules r
    set lease_owner = ${lease}, lease_expires_at = ${leaseEnd(leaseSeconds)}, worked_at = now(),
      used_judge_calls = case when r.used_day = (now() at time zone 'UTC')::date then r.used_judge_calls else 0 end,
      used_tokens = case when r.used_day = (now() at time zone 'UTC')::date then r.used_tokens else 0 end,
      used_day = (now() at time zone 'UTC')::date
    from next, projects p, entities e
    where r.id = next.id and p.id = r.project_id and e.id = p.entity_id
    returning r.id, r.lease_owner as lease, r.project_id as "projectId", e.name || '/' || p.name as "projectName", r.name,
      r.rule_ref as "ruleRef", r.source = 'monitor' as "isMonitor", r.definition, ${isoText("r.updated_at")} as updated_at,
      r.user_id as "userId", r.api_key_id as "apiKeyId", r.used_judge_calls::float8 as "usedJudgeCalls",
      r.used_tokens::float8 as "usedTokens"`.execute(database)
  return rows[0] ?? null
}

export interface DueItem {
  callId: string
  /** Failures that were taken for passing ones. */
  attempts: number
}

/** The oldest first. */
export async function dueItems(database: CatalogDatabase, ruleId: string, limit: number): Promise<DueItem[]> {
  return database
    .selectFrom("scoring_items")
    .select(["call_id as callId", "attempts"])
    .where("rule_id", "=", ruleId)
    .where("due_at", "<=", sql<Date>`now()`)
    .orderBy("arrived_at")
    .orderBy("call_id")
    .limit(limit)
    .execute()
}

export interface WorkedItems {
  /** Out of the queue: scored, failed, not to be scored, or gone meanwhile. */
  done: readonly string[]
  /** Calls to be tried again after so many seconds. */
  later: readonly { id: string; seconds: number }[]
  scored: number
  failed: number
  overBudget: number
  judgeCalls: number
  tokens: number
  errors: readonly object[]
}

const mostErrors = 10

/** Stores what became of items and gives the lease back. false: the lease was lost, and nothing was stored. */
export async function endScoringTurn(
  database: CatalogDatabase,
  { id, lease }: Pick<ClaimedRule, "id" | "lease">,
  worked: WorkedItems,
): Promise<boolean> {
  const { done, later, scored, failed, overBudget, judgeCalls, tokens, errors } = worked
  return inTransaction(database, async (transaction) => {
    const { rows } = await sql`
      update scoring_rules set lease_owner = null, lease_expires_at = null, scored = scored + ${scored},
        failed = failed + ${failed}, over_budget = over_budget + ${overBudget},
        used_judge_calls = used_judge_calls + ${judgeCalls}, used_tokens = used_tokens + ${tokens},
        errors = ${errors.length === 0 ? sql`errors` : lastErrors(errors, mostErrors)}
      where id = ${id} and lease_owner = ${lease} returning id`.execute(transaction)
    if (rows.length === 0) return false
    if (done.length > 0) {
      await sql`
        with gone as (
          delete from scoring_items where rule_id = ${id}
            and call_id in (select json_array_elements_text(${JSON.stringify(done)}::json)) returning 1)
        update scoring_rules set waiting = waiting - (select count(*) from gone) where id = ${id}`.execute(transaction)
    }
    if (later.length > 0) {
      await sql`
        update scoring_items i set attempts = i.attempts + 1, due_at = now() + make_interval(secs => l.seconds)
        from json_to_recordset(${JSON.stringify(later)}::json) as l (id text, seconds float8)
        where i.rule_id = ${id} and i.call_id = l.id`.execute(transaction)
    }
    return true
  })
}

/** Leases of servers that share the catalog with nobody belong to the dead. */
export async function freeScoringLeases(database: CatalogDatabase): Promise<void> {
  await database
    .updateTable("scoring_rules")
    .set({ lease_owner: null, lease_expires_at: null })
    .where("lease_owner", "is not", null)
    .execute()
}

/** Prolongs these leases, and returns them, but for those of rules that were deleted, paused or stopped since. */
export async function renewScoringLeases(
  database: CatalogDatabase,
  leases: readonly string[],
  leaseSeconds: number,
): Promise<Set<string>> {
  const { rows } = await sql<{ lease: string }>`
    update scoring_rules r set lease_expires_at = ${leaseEnd(leaseSeconds)} from projects p
    where p.id = r.project_id and r.lease_owner = any(${leases}) and r.is_active and r.stopped_reason is null
    returning r.lease_owner as lease`.execute(database)
  return new Set(rows.map(({ lease }) => lease))
}
