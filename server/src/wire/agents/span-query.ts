/** `/agents/spans/query` and `/agents/spans/custom-attrs/schema`: evaluation-store-calls 10. */
import { z } from "zod"
import {
  alias,
  attributeSource,
  cell,
  cost,
  count,
  filters,
  groupFilter,
  groupRef,
  measure,
  page,
  sortBy,
  time,
  timeWindow,
  valueRef,
} from "./span-values.ts"
import { query } from "../queries/query.ts"
import { orDefault } from "../or-default.ts"

const attributeRef = valueRef.extend({ source: attributeSource })

const flag = z.boolean().nullish()

/** null and absent mean the same: the SDK sends each unset list as null or []. */
function list<Item extends z.ZodType>(item: Item, most: number) {
  return z
    .array(item)
    .max(most)
    .nullish()
    .transform((items) => items ?? [])
}

export const spansQueryBody = z.looseObject({
  project_id: z.string(),
  ...filters,
  ...timeWindow,
  /** A text that the name of the agent or of the conversation, its id or a message holds; of a group, of one of its spans. */
  q: z.string().nullish(),
  /** Empty: the spans themselves. */
  group_by: list(groupRef, 20),
  measures: list(measure, 50),
  group_filters: list(groupFilter, 20),
  /** Distributions of attribute values within each group. */
  group_distributions: list(
    z.looseObject({
      alias,
      value: attributeRef,
      bins: orDefault(z.int().min(1).max(50), 12),
      top_n: orDefault(z.int().min(1).max(20), 5),
    }),
    20,
  ),
  /** The attributes that rows show; without any, and without details, they show none. */
  custom_attr_columns: list(attributeRef, 1000),
  /** Messages, the texts of tools, every attribute, and the span as it came. */
  include_details: flag,
  include_costs: flag,
  sort_by: sortBy,
  ...page(10_000, 100),
})

const text = z.string().nullable()
const whole = z.number().nullable()
const number = z.number().nullable()
const texts = z.array(z.string())
const messages = z.array(z.object({ role: z.string(), content: z.string(), finish_reason: z.string() }))

export const agentSpan = z.object({
  project_id: z.string(),
  trace_id: z.string(),
  span_id: z.string(),
  parent_span_id: text,
  span_name: text,
  span_kind: z.enum(["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]).nullable(),
  started_at: time,
  ended_at: time,
  status_code: z.enum(["UNSET", "OK", "ERROR"]).nullable(),
  status_message: text,
  error_type: text,
  operation_name: text,
  provider_name: text,
  agent_name: text,
  agent_id: text,
  agent_description: text,
  agent_version: text,
  request_model: text,
  response_model: text,
  response_id: text,
  input_tokens: whole,
  output_tokens: whole,
  reasoning_tokens: whole,
  cache_creation_input_tokens: whole,
  cache_read_input_tokens: whole,
  conversation_id: text,
  conversation_name: text,
  tool_name: text,
  tool_type: text,
  tool_call_id: text,
  tool_description: text,
  tool_definitions: text,
  tool_call_arguments: text,
  tool_call_result: text,
  finish_reasons: texts,
  request_temperature: number,
  request_max_tokens: whole,
  request_top_p: number,
  request_frequency_penalty: number,
  request_presence_penalty: number,
  request_seed: whole,
  request_stop_sequences: texts,
  request_choice_count: whole,
  output_type: text,
  input_messages: messages,
  output_messages: messages,
  system_instructions: texts,
  reasoning_content: text,
  compaction_summary: text,
  compaction_items_before: whole,
  compaction_items_after: whole,
  content_refs: texts,
  artifact_refs: texts,
  object_refs: texts,
  eval_run_id: text,
  eval_predict_and_score_call_id: text,
  eval_kind: text,
  eval_row_digest: text,
  eval_example_id: text,
  eval_trial_index: whole,
  eval_evaluation_name: text,
  parent_call_id: text,
  parent_call_trace_id: text,
  server_address: text,
  server_port: whole,
  wb_user_id: text,
  wb_run_id: text,
  wb_run_step: whole,
  wb_run_step_end: whole,
  custom_attrs_string: z.record(z.string(), z.string()),
  custom_attrs_int: z.record(z.string(), count),
  custom_attrs_float: z.record(z.string(), z.number()),
  custom_attrs_bool: z.record(z.string(), z.boolean()),
  /** JSON. */
  raw_span_dump: text,
  /** USD; null without `include_costs`, and where the model has no price. */
  input_cost_usd: cost,
  output_cost_usd: cost,
  cache_read_cost_usd: cost,
  cache_creation_cost_usd: cost,
  total_cost_usd: cost,
})

const preview = z.object({ role: z.enum(["user_message", "assistant_message"]), text: z.string() }).nullable()

export const attributeType = z.enum(["string", "int", "float", "bool"])

export const distribution = z.object({
  alias: z.string(),
  source: attributeSource,
  key: z.string(),
  value_type: attributeType,
  /** Spans of the group; with the attribute; without it; with a value that `values` does not list. */
  total_count: count,
  present_count: count,
  missing_count: count,
  other_count: count,
  /** Histogram of numbers. */
  bins: z.array(z.object({ index: z.int(), min: z.number(), max: z.number(), count })),
  /** Counts of texts and booleans, the most frequent first. */
  values: z.array(z.object({ value: z.string(), count })),
})

export const spanGroup = z.object({
  group_keys: z.record(z.string(), cell),
  span_count: count,
  invocation_count: count,
  conversation_count: count,
  total_input_tokens: count,
  total_cache_creation_input_tokens: count,
  total_cache_read_input_tokens: count,
  total_output_tokens: count,
  total_reasoning_tokens: count,
  total_duration_ms: count,
  error_count: count,
  agent_names: texts,
  agent_versions: texts,
  provider_names: texts,
  request_models: texts,
  conversation_names: texts,
  first_seen: time,
  last_seen: time,
  total_cost_usd: cost,
  total_input_cost_usd: cost,
  total_output_cost_usd: cost,
  /** Only where the group is a conversation. */
  first_message: preview,
  last_message: preview,
  metrics: z.record(z.string(), cell),
  distributions: z.record(z.string(), distribution),
})

/** One of the lists is empty: groups stand in the place of spans. */
export const spansPage = z.object({
  spans: z.array(agentSpan),
  groups: z.array(spanGroup),
  /** That match, before `limit` and `offset`. */
  total_count: count,
})

export const attributeSchemaBody = z.looseObject({
  project_id: z.string(),
  query: query.nullish(),
  ...timeWindow,
  ...page(2000, 200, 1),
})

export const attributeSchema = z.object({
  /** The most frequent first. */
  attributes: z.array(
    z.object({ source: attributeSource, key: z.string(), value_type: attributeType, span_count: count }),
  ),
  limit: z.int(),
  offset: z.int(),
  has_more: z.boolean(),
})

export type SpansQueryBody = z.output<typeof spansQueryBody>
export type SpansPage = z.output<typeof spansPage>
export type AgentSpan = z.output<typeof agentSpan>
export type SpanGroup = z.output<typeof spanGroup>
export type Distribution = z.output<typeof distribution>
export type DistributionQuery = SpansQueryBody["group_distributions"][number]
export type AttributeSchemaBody = z.output<typeof attributeSchemaBody>
export type AttributeSchema = z.output<typeof attributeSchema>
