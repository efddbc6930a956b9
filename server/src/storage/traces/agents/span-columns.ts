/**
 * The columns of a stored span, and the names by which attributes and requests mean them:
 * evaluation-store-calls 10. Nothing else reaches a column.
 */

/**
 * `word`: text of few values. `count`: a whole number, 0 when nothing was said. `integer` and `number`
 * are null then, since 0 would be a statement. `list`: texts. Text that was not given is ''.
 */
export type SpanColumnKind =
  | "text"
  | "word"
  | "time"
  | "count"
  | "integer"
  | "number"
  | "list"
  | "messages"
  | "text_map"
  | "integer_map"
  | "number_map"
  | "bool_map"

interface SpanColumn {
  kind: SpanColumnKind
  /** Attributes that fill it; the first that is there counts. A request may name it by any of them. */
  attributes?: readonly string[]
  /** Read only when details are asked for: it may be large. */
  isDetail?: true
  /** Only shown: the span's call holds it, where no query of spans looks. */
  isElsewhere?: true
}

/** The two spellings of a convention: Weave's own, and OpenTelemetry's. */
function both(name: string): string[] {
  return [`weave.${name}`, `gen_ai.${name}`]
}

function text(attributes: readonly string[] = []): SpanColumn {
  return { kind: "text", attributes }
}

function word(attributes: readonly string[] = []): SpanColumn {
  return { kind: "word", attributes }
}

function detail(kind: SpanColumnKind, attributes: readonly string[] = []): SpanColumn {
  return { kind, attributes, isDetail: true }
}

export const spanColumns = {
  trace_id: text(),
  span_id: text(),
  parent_span_id: text(),
  span_name: text(),
  span_kind: word(),
  started_at: { kind: "time" },
  ended_at: { kind: "time" },
  status_code: word(),
  status_message: text(),
  error_type: word(["weave.error.type", "error.type"]),
  operation_name: word(both("operation.name")),
  provider_name: word([...both("provider.name"), ...both("system")]),
  agent_name: word(both("agent.name")),
  agent_id: text(both("agent.id")),
  agent_description: text(both("agent.description")),
  agent_version: word(both("agent.version")),
  request_model: word(both("request.model")),
  response_model: word(both("response.model")),
  response_id: text(both("response.id")),
  input_tokens: { kind: "count", attributes: both("usage.input_tokens") },
  output_tokens: { kind: "count", attributes: both("usage.output_tokens") },
  reasoning_tokens: {
    kind: "count",
    // weave 0.54.0 sends the last one.
    attributes: [...both("usage.reasoning_tokens"), "gen_ai.usage.reasoning.output_tokens"],
  },
  cache_creation_input_tokens: {
    kind: "count",
    // weave 0.54.0 sends the last one.
    attributes: [...both("usage.cache_creation.input_tokens"), "gen_ai.usage.cache_write.input_tokens"],
  },
  cache_read_input_tokens: { kind: "count", attributes: both("usage.cache_read.input_tokens") },
  conversation_id: text(both("conversation.id")),
  conversation_name: text(both("conversation.name")),
  tool_name: word(both("tool.name")),
  tool_type: word(both("tool.type")),
  tool_call_id: text(both("tool.call.id")),
  tool_description: detail("text", both("tool.description")),
  tool_definitions: detail("text", both("tool.definitions")),
  tool_call_arguments: detail("text", both("tool.call.arguments")),
  tool_call_result: detail("text", both("tool.call.result")),
  finish_reasons: { kind: "list", attributes: both("response.finish_reasons") },
  request_temperature: { kind: "number", attributes: both("request.temperature") },
  request_max_tokens: { kind: "integer", attributes: both("request.max_tokens") },
  request_top_p: { kind: "number", attributes: both("request.top_p") },
  request_frequency_penalty: { kind: "number", attributes: both("request.frequency_penalty") },
  request_presence_penalty: { kind: "number", attributes: both("request.presence_penalty") },
  request_seed: { kind: "integer", attributes: both("request.seed") },
  request_stop_sequences: { kind: "list", attributes: both("request.stop_sequences") },
  request_choice_count: { kind: "integer", attributes: both("request.choice.count") },
  output_type: word(both("output.type")),
  input_messages: detail("messages", both("input.messages")),
  output_messages: detail("messages", both("output.messages")),
  system_instructions: detail("list", both("system_instructions")),
  reasoning_content: detail("text", ["weave.reasoning_content"]),
  compaction_summary: detail("text", ["weave.compaction.summary"]),
  compaction_items_before: { kind: "integer", attributes: ["weave.compaction.items_before"] },
  compaction_items_after: { kind: "integer", attributes: ["weave.compaction.items_after"] },
  content_refs: detail("list", ["weave.content_refs"]),
  artifact_refs: detail("list", ["weave.artifact_refs"]),
  object_refs: detail("list", ["weave.object_refs"]),
  eval_run_id: text(["weave.eval.run_id"]),
  eval_predict_and_score_call_id: text(["weave.eval.predict_and_score_call_id"]),
  eval_kind: word(["weave.eval.kind"]),
  eval_row_digest: text(["weave.eval.row_digest"]),
  eval_example_id: text(["weave.eval.example_id"]),
  eval_trial_index: { kind: "integer", attributes: ["weave.eval.trial_index"] },
  eval_evaluation_name: word(["weave.eval.evaluation_name"]),
  parent_call_id: text(["weave.parent_call.id"]),
  parent_call_trace_id: text(["weave.parent_call.trace_id"]),
  server_address: word(["weave.server.address", "server.address"]),
  server_port: { kind: "integer", attributes: ["weave.server.port", "server.port"] },
  wb_user_id: word(),
  wb_run_id: text(["wandb.wb_run_id"]),
  wb_run_step: { kind: "integer", attributes: ["wandb.wb_run_step"] },
  wb_run_step_end: { kind: "integer", attributes: ["wandb.wb_run_step_end"] },
  custom_attrs_string: detail("text_map"),
  custom_attrs_int: detail("integer_map"),
  custom_attrs_float: detail("number_map"),
  custom_attrs_bool: detail("bool_map"),
  raw_span_dump: { ...detail("text"), isElsewhere: true },
} as const satisfies Record<string, SpanColumn>

export type SpanColumnName = keyof typeof spanColumns

export const spanColumnNames = Object.keys(spanColumns) as SpanColumnName[]

export function columnOf(name: SpanColumnName): SpanColumn {
  return spanColumns[name]
}

export function isSpanColumn(name: string): name is SpanColumnName {
  return Object.hasOwn(spanColumns, name)
}

/** Every attribute that has a column of its own → that column. */
export const columnByAttribute: ReadonlyMap<string, SpanColumnName> = new Map(
  spanColumnNames.flatMap((column) =>
    (columnOf(column).attributes ?? []).map((attribute) => [attribute, column] as const),
  ),
)

/** `agent.name` for `weave.agent.name` and `gen_ai.agent.name`. */
const columnByShortName: ReadonlyMap<string, SpanColumnName> = new Map(
  [...columnByAttribute].flatMap(([attribute, column]) => {
    const short = attribute.replace(/^(weave|gen_ai)\./, "")
    return short === attribute ? [] : [[short, column] as const]
  }),
)

/** The column that a name of a request means: an attribute, its short form, or the column itself; null: none. */
export function findSpanColumn(name: string): SpanColumnName | null {
  return columnByAttribute.get(name) ?? columnByShortName.get(name) ?? (isSpanColumn(name) ? name : null)
}

export type AttributeSource = "custom_attrs_string" | "custom_attrs_int" | "custom_attrs_float" | "custom_attrs_bool"

/** The maps of attributes without a column, by type. */
export const attributeSources = [
  "custom_attrs_string",
  "custom_attrs_int",
  "custom_attrs_float",
  "custom_attrs_bool",
] as const satisfies readonly AttributeSource[]

export function isAttributeSource(name: string): name is AttributeSource {
  return (attributeSources as readonly string[]).includes(name)
}
