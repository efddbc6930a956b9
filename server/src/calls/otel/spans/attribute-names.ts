/**
 * Which attributes of a span become which part of a call: evaluation-store-calls 8, whose names come
 * first and in its order; behind them names of conventions that it does not list. A name also stands
 * for all attributes below it: `gen_ai.prompt` for `gen_ai.prompt.0.role`.
 *
 * A new generation of names is a new entry here; `remap.ts` maps what was stored before.
 */

/** Begins the names that stand for events of the span: {@link eventMessages} says which. */
export const eventPrefix = "events."

/** Mastra's types of spans; it names the input and output of most by their type. */
const mastraSpanTypes = [
  "agent_run",
  "scorer_run",
  "scorer_step",
  "generic",
  "model_generation",
  "model_step",
  "model_inference",
  "model_chunk",
  "mcp_tool_call",
  "mcp_server_request",
  "processor_run",
  "tool_call",
  "client_tool_call",
  "provider_tool_call",
  "workflow_run",
  "workflow_step",
  "workflow_conditional",
  "workflow_conditional_eval",
  "workflow_parallel",
  "workflow_loop",
  "workflow_sleep",
  "workflow_wait_event",
  "memory_operation",
  "workspace_action",
  "rag_ingestion",
  "rag_embedding",
  "rag_vector_operation",
  "rag_action",
  "graph_action",
  "mapping",
] as const

export const inputNames = [
  "ai.prompt",
  "gen_ai.prompt",
  "input.value",
  "mlflow.spanInputs",
  "gen_ai.input.messages",
  "pydantic_ai.all_messages",
  "traceloop.entity.input",
  "gcp.vertex.agent.tool_call_args",
  "gcp.vertex.agent.llm_request",
  "events.gen_ai.user.message",
  "input",
  "inputs",
  // OpenInference, where the whole input is hidden or too long.
  "llm.input_messages",
  "llm.prompts",
  "embedding.text",
  // OpenTelemetry: a tool's call.
  "gen_ai.tool.call.arguments",
  // Vercel: a tool's call, an embedding.
  "ai.toolCall.args",
  "ai.value",
  "ai.values",
  // Langfuse.
  "langfuse.observation.input",
  "langfuse.trace.input",
  // Pydantic AI before version 1, Logfire.
  "all_messages_events",
  "tool_arguments",
  "request_data",
  // Weave's own spelling of OpenTelemetry's names.
  "weave.input.messages",
  "weave.tool.call.arguments",
  // Genkit, promptfoo.
  "genkit:input",
  "promptfoo.request.body",
  ...mastraSpanTypes.map((type) => `mastra.${type}.input`),
] as const

export const outputNames = [
  "ai.response",
  "gen_ai.completion",
  "output.value",
  "gen_ai.output.messages",
  "mlflow.spanOutputs",
  "final_result",
  "gen_ai.content.completion",
  "traceloop.entity.output",
  "gcp.vertex.agent.tool_response",
  "gcp.vertex.agent.llm_response",
  "events.gen_ai.choice",
  "output",
  "outputs",
  "llm.output_messages",
  "retrieval.documents",
  "reranker.output_documents",
  "gen_ai.tool.call.result",
  "ai.toolCall.result",
  "langfuse.observation.output",
  "langfuse.trace.output",
  "tool_response",
  "response_data",
  "weave.output.messages",
  "weave.tool.call.result",
  "genkit:output",
  "promptfoo.response.body",
  ...mastraSpanTypes.map((type) => `mastra.${type}.output`),
] as const

/** Vercel's AI SDK sets it on the span of a request for embeddings, and on the one around it. */
export const tokensOfEmbedding = "ai.usage.tokens"

/** Names of the counts in `summary.usage`; each is an integer. */
export const usageNames = {
  input_tokens: ["gen_ai.usage.input_tokens", "ai.usage.inputTokens", "weave.usage.input_tokens", tokensOfEmbedding],
  prompt_tokens: ["gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"],
  completion_tokens: ["gen_ai.usage.completion_tokens", "llm.token_count.completion", "ai.usage.completionTokens"],
  output_tokens: ["gen_ai.usage.output_tokens", "ai.usage.outputTokens", "weave.usage.output_tokens"],
  total_tokens: [
    "llm.usage.total_tokens",
    "llm.token_count.total",
    "gen_ai.usage.total_tokens",
    "ai.usage.totalTokens",
  ],
  cache_creation_input_tokens: [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "weave.usage.cache_creation.input_tokens",
    // weave 0.54.0 sends it.
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_write_input_tokens",
  ],
  cache_read_input_tokens: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "weave.usage.cache_read.input_tokens",
  ],
} as const

/** Langfuse's attribute with all counts of a span, as JSON. */
export const heldCountsName = "langfuse.observation.usage_details"

/** For each name of a count in it, Langfuse's own or that of a model's API: the attribute in which others send the same count. */
export const heldCountNames: Readonly<Record<string, string>> = {
  input: "gen_ai.usage.input_tokens",
  input_tokens: "gen_ai.usage.input_tokens",
  prompt_tokens: "gen_ai.usage.prompt_tokens",
  completion_tokens: "gen_ai.usage.completion_tokens",
  output: "gen_ai.usage.output_tokens",
  output_tokens: "gen_ai.usage.output_tokens",
  total: "gen_ai.usage.total_tokens",
  total_tokens: "gen_ai.usage.total_tokens",
  cache_creation_input_tokens: "gen_ai.usage.cache_creation.input_tokens",
  input_cache_creation: "gen_ai.usage.cache_creation.input_tokens",
  input_cache_write_tokens: "gen_ai.usage.cache_creation.input_tokens",
  cache_read_input_tokens: "gen_ai.usage.cache_read.input_tokens",
  input_cache_read: "gen_ai.usage.cache_read.input_tokens",
  input_cached_tokens: "gen_ai.usage.cache_read.input_tokens",
  "prompt_tokens_details.cached_tokens": "gen_ai.usage.cache_read.input_tokens",
  "input_tokens_details.cached_tokens": "gen_ai.usage.cache_read.input_tokens",
  output_reasoning: "gen_ai.usage.reasoning.output_tokens",
  output_reasoning_tokens: "gen_ai.usage.reasoning.output_tokens",
  "completion_tokens_details.reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
  "output_tokens_details.reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}

/** The attribute in which Logfire and Pydantic AI before version 1 send the events of {@link eventMessages}, as a JSON list. */
export const heldEventsName = "events"

/** Messages of a whole run of Pydantic AI: those that it was given, and its answers to them. */
export const wholeTalkNames: ReadonlySet<string> = new Set(["pydantic_ai.all_messages", "all_messages_events"])

/** By side, the names of parts that Langfuse's own count of the side, `input` or `output`, leaves out. */
export const heldParts: Readonly<Record<"input" | "output", RegExp>> = {
  input: /^(?:input_(?!tokens)|cache_(?:creation|read)_input_tokens$)/,
  output: /^output_(?!tokens)/,
}

export const callAttributeNames = {
  system: ["gen_ai.system", "llm.system", "gen_ai.system_instructions", "system_prompt"],
  kind: [
    "weave.span.kind",
    "traceloop.span.kind",
    "openinference.span.kind",
    "langfuse.observation.type",
    "langsmith.span.kind",
    "genkit:type",
    "mastra.span.type",
  ],
  model: [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "embedding.model_name",
    "reranker.model_name",
    "langfuse.observation.model.name",
    "weave.response.model",
    "weave.request.model",
  ],
  provider: ["llm.provider", "ai.model.provider", "gen_ai.provider.name", "weave.provider.name"],
  model_parameters: ["gen_ai.request", "llm.invocation_parameters", "langfuse.observation.model.parameters"],
  agent: ["gen_ai.agent.name", "weave.agent.name", "agent.name", "agent_name"],
  tools: ["gen_ai.agent.tools", "gen_ai.tool.definitions", "llm.tools", "ai.prompt.tools"],
  operation: ["gen_ai.operation.name", "ai.operationId", "weave.operation.name"],
  agent_id: ["gen_ai.agent.id", "weave.agent.id"],
  tool_name: ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "weave.tool.name"],
  tool_call_id: ["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "weave.tool.call.id"],
  response_id: ["gen_ai.response.id", "ai.response.id"],
  finish_reasons: ["gen_ai.response.finish_reasons", "llm.finish_reason", "ai.response.finishReason"],
} as const

// Logfire's spans are called by a template of their message: `Agent run: {name!r}`.
export const displayNames = ["wandb.display_name", "logfire.msg"] as const

export const threadNames = [
  "wandb.thread_id",
  "gcp.vertex.agent.session_id",
  "gen_ai.conversation.id",
  "session.id",
  "langfuse.session.id",
  "traceloop.association.properties.session_id",
  "weave.conversation.id",
  "langsmith.metadata.session_id",
  "langsmith.metadata.thread_id",
  "langsmith.metadata.conversation_id",
] as const

/** Attributes that make a span a turn of its thread. */
export const turnNames = [
  "wandb.is_turn",
  "gcp.vertex.agent.session_id",
  "gen_ai.conversation.id",
  "weave.conversation.id",
] as const

/** What these hold are attributes of the call itself. */
export const customAttributeNames = ["wandb.attributes"] as const

export const runNames = {
  id: ["wandb.wb_run_id"],
  step: ["wandb.wb_run_step"],
  stepEnd: ["wandb.wb_run_step_end"],
} as const

/** Langfuse's exporters tell the times of the observation here. */
export const timeNames = { start: ["langfuse.startTime"], end: ["langfuse.endTime"] } as const

/** Langfuse's clients tell the failure of an observation here. */
export const statusNames = {
  level: ["langfuse.observation.level"],
  message: ["langfuse.observation.status_message"],
} as const

/** Names below one of the above that are no part of its value. */
export const namesApart: ReadonlySet<string> = new Set(["gen_ai.prompt.name", "input.mime_type", "output.mime_type"])

/** Events whose attributes are read like the span's own: conventions moved messages there and back. */
export const detailEvents: ReadonlySet<string> = new Set([
  "gen_ai.client.inference.operation.details",
  "gen_ai.content.prompt",
  "gen_ai.content.completion",
])

/** By the name under which calls have them: the events that are messages, with the role of those that name none. */
export const eventMessages: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  "events.gen_ai.user.message": new Map([
    ["gen_ai.system.message", "system"],
    ["gen_ai.user.message", "user"],
    ["gen_ai.assistant.message", "assistant"],
    ["gen_ai.tool.message", "tool"],
  ]),
  "events.gen_ai.choice": new Map([["gen_ai.choice", "assistant"]]),
}
