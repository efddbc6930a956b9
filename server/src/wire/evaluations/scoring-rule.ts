/** Rules that score new calls as they come. Not in the reference, but for the monitors that its SDK publishes. */
import { z } from "zod"
import { boundedList, fieldList } from "../bounded-list.ts"
import { callsFilter } from "../calls/call-read.ts"
import { jsonValue } from "../json-value.ts"
import { query } from "../queries/query.ts"

/** The name of an object of the evaluation store, and the end of `wandb.runnable.<name>`. */
const ruleName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "1 to 128 letters, digits, - and _, the first a letter or digit")

/** Such as `output.choices.0.message.content`. */
const field = z.string().min(1).max(1000).nullish()
const words = z.union([z.string().min(1), fieldList(z.string().min(1)).min(1)])

export const functionScorer = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("contains"), words, ignore_case: z.boolean().nullish(), field }),
  z.strictObject({ kind: z.literal("equals"), value: jsonValue, field }),
  z.strictObject({ kind: z.literal("regex"), pattern: z.string().min(1).max(10_000), field }),
  z.strictObject({ kind: z.literal("json_schema"), schema: z.record(z.string(), jsonValue), field }),
  z.strictObject({ kind: z.literal("length"), min: z.int().min(0).nullish(), max: z.int().min(0).nullish(), field }),
  z.strictObject({ kind: z.literal("value"), field: z.string().min(1).max(1000) }),
])
export type FunctionScorer = z.output<typeof functionScorer>

export const judgeScorer = z.strictObject({
  kind: z.literal("judge"),
  model: z.string().min(1).max(1000),
  prompt: z.string().min(1).max(100_000),
  min: z.number().nullish(),
  max: z.number().nullish(),
})
export type JudgeScorer = z.output<typeof judgeScorer>

export const publishedScorers = z.strictObject({
  kind: z.literal("published"),
  scorer_refs: boundedList(z.string(), 10).min(1),
})

export const ruleScorer = z.discriminatedUnion("kind", [functionScorer, judgeScorer, publishedScorers])
export type RuleScorer = z.output<typeof ruleScorer>

const mostADay = 1_000_000_000

/** null: any number. */
export const dailyBudget = z.strictObject({
  judge_calls: z.int().min(0).max(mostADay).nullish(),
  tokens: z.int().min(0).max(mostADay).nullish(),
})
export type DailyBudget = z.output<typeof dailyBudget>

const rate = z.number().min(0).max(1)

export const ruleCreateBody = z.strictObject({
  project_id: z.string(),
  name: ruleName,
  filter: callsFilter.nullish(),
  query: query.nullish(),
  sampling_rate: rate.nullish(),
  scorer: ruleScorer,
  daily_budget: dailyBudget.nullish(),
  active: z.boolean().nullish(),
})
export type RuleCreateBody = z.output<typeof ruleCreateBody>

/** What is absent is left alone. */
export const ruleChangeBody = z.strictObject({
  project_id: z.string(),
  filter: callsFilter.nullish(),
  query: query.nullish(),
  sampling_rate: rate.optional(),
  scorer: ruleScorer.optional(),
  daily_budget: dailyBudget.nullish(),
  active: z.boolean().optional(),
})
export type RuleChangeBody = z.output<typeof ruleChangeBody>

export const ruleParams = z.object({ rule_id: z.string() })
export const ruleProject = z.object({ project_id: z.string() })

const time = z.iso.datetime()

export const ruleFailure = z.object({ at: time, call_id: z.string().nullable(), message: z.string() })
export type RuleFailure = z.output<typeof ruleFailure>

export const scoringRule = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  source: z.enum(["rule", "monitor"]),
  rule_ref: z.string(),
  filter: z.record(z.string(), jsonValue),
  query: z.record(z.string(), jsonValue).nullable(),
  sampling_rate: z.number(),
  scorer: z.looseObject({ kind: z.string() }),
  daily_budget: z.object({ judge_calls: z.int().nullable(), tokens: z.int().nullable() }),
  active: z.boolean(),
  state: z.enum(["active", "paused", "stopped"]),
  stopped_reason: z.string().nullable(),
  created_at: time,
  created_by: z.string(),
  updated_at: time,
  counters: z.object({
    seen: z.int(),
    matched: z.int(),
    sampled: z.int(),
    scored: z.int(),
    failed: z.int(),
    over_budget: z.int(),
    overflowed: z.int(),
    waiting: z.int(),
  }),
  lag_seconds: z.number(),
  today: z.object({
    day: z.iso.date(),
    judge_calls: z.int(),
    tokens: z.int(),
    judge_calls_left: z.int().nullable(),
    tokens_left: z.int().nullable(),
  }),
  errors: z.array(ruleFailure),
})
export type ScoringRule = z.output<typeof scoringRule>

export const ruleAnswer = z.object({ rule: scoringRule })
export const ruleDeleted = z.object({})
export const rulesQueryBody = z.strictObject({ project_id: z.string() })
export const ruleList = z.object({ rules: z.array(scoringRule) })
