/** Rules that score new calls: what they are, what they have counted, and who works on them. */
import { type RawBuilder, sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { storableText } from "../storable-text.ts"

export interface NewScoringRule {
  id: string
  projectId: string
  name: string
  source: "rule" | "monitor"
  ruleRef: string
  /** JSON text. */
  definition: string
  isActive: boolean
  stoppedReason: string | null
  userId: string
  apiKeyId: string
}

export interface ScoringRuleRecord extends NewScoringRule {
  /** ISO 8601, UTC. */
  created_at: string
  updated_at: string
  counters: Record<ScoringCounter, number>
  /** `YYYY-MM-DD`, UTC; what was used on an earlier day is not told. */
  today: { day: string; judgeCalls: number; tokens: number }
  /** JSON list. */
  errors: string
  /** How long the call waits that waits longest; null: none waits. */
  waitingSeconds: number | null
}

export const scoringCounters = [
  "seen",
  "matched",
  "sampled",
  "scored",
  "failed",
  "over_budget",
  "overflowed",
  "waiting",
] as const
export type ScoringCounter = (typeof scoringCounters)[number]

const today = sql`(now() at time zone 'UTC')::date`

function rulesOf(database: CatalogDatabase) {
  return database
    .selectFrom("scoring_rules as r")
    .innerJoin("projects", "projects.id", "r.project_id")
    .select([
      "r.id",
      "r.project_id as projectId",
      "r.name",
      "r.source",
      "r.rule_ref as ruleRef",
      "r.definition",
      "r.is_active as isActive",
      "r.stopped_reason as stoppedReason",
      "r.user_id as userId",
      "r.api_key_id as apiKeyId",
      isoText<string>("r.created_at").as("created_at"),
      isoText<string>("r.updated_at").as("updated_at"),
      ...scoringCounters.map((name) => `r.${name}` as const),
      sql<string>`${today}::text`.as("day"),
      sql<string>`case when r.used_day = ${today} then r.used_judge_calls else 0 end`.as("usedJudgeCalls"),
      sql<string>`case when r.used_day = ${today} then r.used_tokens else 0 end`.as("usedTokens"),
      "r.errors",
      sql<number | null>`extract(epoch from now() - (
        select min(i.arrived_at) from scoring_items i where i.rule_id = r.id))::float8`.as("waitingSeconds"),
    ])
}

type StoredRule = Awaited<ReturnType<ReturnType<typeof rulesOf>["executeTakeFirstOrThrow"]>>

function toRecord(row: StoredRule): ScoringRuleRecord {
  const { day, usedJudgeCalls, usedTokens, ...rest } = row
  return {
    ...rest,
    counters: Object.fromEntries(scoringCounters.map((name) => [name, Number(row[name])])) as Record<
      ScoringCounter,
      number
    >,
    today: { day, judgeCalls: Number(usedJudgeCalls), tokens: Number(usedTokens) },
  }
}

/** false: the project has a rule of that name. */
export async function insertScoringRule(database: CatalogDatabase, rule: NewScoringRule): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("scoring_rules")
    .values({ id: rule.id, project_id: rule.projectId, name: rule.name, source: rule.source, ...columnsOf(rule) })
    .onConflict((conflict) => conflict.columns(["project_id", "name"]).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Sets what the rule is; its counters stay. `readAt`: its `updated_at` when it was read. false: it was changed since, or is gone. */
export async function updateScoringRule(
  database: CatalogDatabase,
  rule: Omit<NewScoringRule, "name" | "source">,
  readAt: string,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("scoring_rules")
    .set({ ...columnsOf(rule), updated_at: sql<Date>`now()` })
    .where("id", "=", rule.id)
    .where("project_id", "=", rule.projectId)
    .where(isoText<string>("updated_at"), "=", readAt)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

function columnsOf(rule: Omit<NewScoringRule, "id" | "projectId" | "name" | "source">) {
  return {
    rule_ref: rule.ruleRef,
    definition: rule.definition,
    is_active: rule.isActive,
    stopped_reason: rule.stoppedReason === null ? null : storableText(rule.stoppedReason),
    user_id: rule.userId,
    api_key_id: rule.apiKeyId,
  }
}

/** Deletes a rule and the calls that wait for it; its scores stay. false: it is not there. */
export async function deleteScoringRule(database: CatalogDatabase, projectId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await database
    .deleteFrom("scoring_rules")
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function findScoringRule(
  database: CatalogDatabase,
  projectId: string,
  by: { id: string } | { name: string },
): Promise<ScoringRuleRecord | null> {
  if ("id" in by && !isUuid(by.id)) return null
  const rules = rulesOf(database).where("r.project_id", "=", projectId)
  const row = await (
    "id" in by ? rules.where("r.id", "=", by.id) : rules.where("r.name", "=", by.name)
  ).executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

/** `before`: those alone that were made before this one, by its id. */
export async function countScoringRules(
  database: CatalogDatabase,
  projectId: string,
  before?: string,
): Promise<number> {
  const rules = database
    .selectFrom("scoring_rules")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("project_id", "=", projectId)
  const counted =
    before === undefined
      ? rules
      : rules.where("created_at", "<", (rule) =>
          rule.selectFrom("scoring_rules as one").select("one.created_at").where("one.id", "=", before),
        )
  return (await counted.executeTakeFirstOrThrow()).count
}

/** The rules of a project, by name. */
export async function listScoringRules(database: CatalogDatabase, projectId: string): Promise<ScoringRuleRecord[]> {
  const rows = await rulesOf(database).where("r.project_id", "=", projectId).orderBy("r.name").execute()
  return rows.map(toRecord)
}

export interface WorkingRule {
  id: string
  projectId: string
  /** `entity/project`. */
  projectName: string
  definition: string
  /** ISO 8601, UTC. */
  updated_at: string
  waiting: number
}

/** Rules that new calls of these projects are held against. */
export async function workingScoringRules(
  database: CatalogDatabase,
  projectIds: readonly string[],
): Promise<WorkingRule[]> {
  return database
    .selectFrom("scoring_rules as r")
    .innerJoin("projects as p", "p.id", "r.project_id")
    .innerJoin("entities as e", "e.id", "p.entity_id")
    .select([
      "r.id",
      "r.project_id as projectId",
      sql<string>`e.name || '/' || p.name`.as("projectName"),
      "r.definition",
      isoText<string>("r.updated_at").as("updated_at"),
      sql<number>`r.waiting::float8`.as("waiting"),
    ])
    .where("r.is_active", "=", true)
    .where("r.stopped_reason", "is", null)
    .where("r.project_id", "=", sql<string>`any(${projectIds}::uuid[])`)
    .execute()
}

/** Projects that have such a rule. */
export async function projectsWithScoring(database: CatalogDatabase): Promise<string[]> {
  const rows = await database
    .selectFrom("scoring_rules as r")
    .innerJoin("projects as p", "p.id", "r.project_id")
    .select("r.project_id as projectId")
    .distinct()
    .where("r.is_active", "=", true)
    .where("r.stopped_reason", "is", null)
    .execute()
  return rows.map(({ projectId }) => projectId)
}

/**
 * The server does not go on with the rule until it is changed. One that was changed after `updated_at` goes on: the reason is
 * that of what it was before.
 */
export async function stopScoringRule(
  database: CatalogDatabase,
  { id, updated_at }: Pick<ScoringRuleRecord, "id" | "updated_at">,
  reason: string,
): Promise<void> {
  await database
    .updateTable("scoring_rules")
    .set({ stopped_reason: storableText(reason) })
    .where("id", "=", id)
    .where(isoText<string>("updated_at"), "=", updated_at)
    .execute()
}

/** Removes rules of monitors whose object was deleted. */
export async function forgetDeletedMonitors(database: CatalogDatabase): Promise<void> {
  await sql`
    delete from scoring_rules r where r.source = 'monitor' and not exists (
      select 1 from object_versions v where v.project_id = r.project_id and v.object_id = r.name
        and v.kind = 'object' and v.deleted_at is null)`.execute(database)
}

/** SQL: the last `most` of the list of a rule and of `added`, a JSON list. */
export function lastErrors(added: readonly object[], most: number): RawBuilder<string> {
  return sql<string>`(
    select coalesce(json_agg(e.value order by e.at), '[]'::json)::text from (
      select value, at from (
        select value, ordinality as at from json_array_elements(errors::json) with ordinality
        union all
        select value, 1000 + ordinality from json_array_elements(${JSON.stringify(added)}::json) with ordinality) both_
      order by at desc limit ${most}) e)`
}
