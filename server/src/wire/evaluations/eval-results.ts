/** `eval_results/query`: evaluation-store-objects 7. */
import { z } from "zod"
import { boundedList, fieldList } from "../bounded-list.ts"
import { jsonValue } from "../json-value.ts"
import { evaluationFailures } from "./execution.ts"
import { listRange } from "../queries/list-range.ts"
import { mostSortKeys, query, sortBy } from "../queries/query.ts"
import { orDefault } from "../or-default.ts"

const ids = z.array(z.string()).nullish()
const flag = (value: boolean) => orDefault(z.boolean(), value)

export const evalResultsFilter = z.object({
  /** The fields are those of this evaluation; null: of any. */
  evaluation_call_id: z.string().nullish(),
  query,
})

export const evalResultsBody = z
  .object({
    evaluation_call_ids: ids,
    evaluation_run_ids: ids,
    /** Only rows that every evaluation has. */
    require_intersection: flag(false),
    include_raw_data_rows: flag(false),
    /** The rows of datasets instead of the refs to them. */
    resolve_row_refs: flag(false),
    include_rows: flag(true),
    /** Without them `model_output` is null: a table of scores need not read what models wrote. Not in the reference. */
    include_model_outputs: flag(true),
    include_summary: flag(false),
    /** null: as `require_intersection`. */
    summary_require_intersection: z.boolean().nullish(),
    include_predict_and_score_children: flag(true),
    include_costs: flag(false),
    /** Fields: `scores.…`, `inputs.…`, `outputs.…`, `row_digest`. */
    sort_by: boundedList(
      sortBy.extend({
        evaluation_call_id: z.string().nullish(),
        mode: orDefault(z.enum(["value", "difference"]), "value"),
      }),
      mostSortKeys,
    ).nullish(),
    filters: fieldList(evalResultsFilter).nullish(),
    filter_logic_operator: orDefault(z.enum(["and", "or"]), "or"),
    ...listRange,
  })
  .refine(
    (body) => (body.evaluation_call_ids?.length ?? 0) + (body.evaluation_run_ids?.length ?? 0) > 0,
    "name at least one evaluation in evaluation_call_ids or evaluation_run_ids",
  )

const text = z.string().nullable()

const scorerStat = z.object({
  scorer_key: z.string(),
  path: text,
  value_type: z.enum(["binary", "continuous", "text"]),
  trial_count: z.int(),
  numeric_count: z.int(),
  numeric_mean: z.number().nullable(),
  pass_true_count: z.int(),
  pass_known_count: z.int(),
  pass_rate: z.number().nullable(),
  pass_signal_coverage: z.number().nullable(),
})

const evaluationSummary = z.object({
  evaluation_call_id: z.string(),
  trial_count: z.int(),
  scorer_stats: z.array(scorerStat),
  predict_total_tokens: z.int().nullable(),
  predict_total_cost: z.number().nullable(),
  evaluation_ref: text,
  model_ref: text,
  display_name: text,
  trace_id: text,
  started_at: z.iso.datetime().nullable(),
  /** Failures of a run by the server: a scorer that never answered has no statistics. Not in the reference. */
  failures: evaluationFailures.optional(),
})

const trial = z.object({
  predict_and_score_call_id: z.string(),
  predict_call_id: text,
  model_output: jsonValue,
  scores: z.record(z.string(), jsonValue),
  model_latency_seconds: z.number().nullable(),
  total_tokens: z.int().nullable(),
  total_cost: z.number().nullable(),
  scorer_call_ids: z.record(z.string(), z.string()),
  genai_span_ref: z.array(z.object({ trace_id: z.string(), span_id: z.string() })).nullable(),
})

const row = z.object({
  row_digest: z.string(),
  raw_data_row: jsonValue,
  evaluations: z.array(z.object({ evaluation_call_id: z.string(), trials: z.array(trial) })),
})

export const evalResults = z.object({
  rows: z.array(row),
  /** Before `limit` and `offset`. */
  total_rows: z.int(),
  summary: z.object({ row_count: z.int(), evaluations: z.array(evaluationSummary) }).nullable(),
  warnings: z.array(z.string()),
})

export type EvalResultsBody = z.output<typeof evalResultsBody>
export type ScorerStat = z.output<typeof scorerStat>
export type EvaluationSummary = z.output<typeof evaluationSummary>
export type EvalResultsSummary = NonNullable<z.output<typeof evalResults>["summary"]>
