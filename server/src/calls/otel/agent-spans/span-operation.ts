/** The operation of an agent's span, and whether a span is one: evaluation-store-calls 10. */
import { columnOf, type SpanColumnName } from "../../../storage/traces/agents/span-columns.ts"
import { firstFound, pathsOf, textOf } from "../spans/attribute-lookup.ts"
import type { AttributeTree } from "../spans/attribute-tree.ts"
import { heldConversation } from "../spans/held-conversation.ts"
import type { Span } from "../trace-request.ts"

/** A span without `gen_ai.operation.name` has the operation that its name begins with. */
const operations = [
  "chat",
  "invoke_agent",
  "execute_tool",
  "generate_content",
  "text_completion",
  "embeddings",
  "create_agent",
  "retrieval",
]

/** Names of operations in OpenInference, OpenLLMetry, Weave, Langfuse and LangSmith. */
const operationOfKind: Readonly<Record<string, string>> = {
  llm: "chat",
  generation: "chat",
  agent: "invoke_agent",
  tool: "execute_tool",
  retriever: "retrieval",
  embedding: "embeddings",
}

const kindPaths = pathsOf([
  "openinference.span.kind",
  "traceloop.span.kind",
  "weave.span.kind",
  "langfuse.observation.type",
  "langsmith.span.kind",
])

const vercelPaths = pathsOf(["ai.operationId"])

/** By the operation that spans of Vercel's AI SDK name before version 7. */
const operationsOfVercel: readonly (readonly [RegExp, string])[] = [
  [/^ai\.(?:generate|stream)(?:Text|Object)$/, "invoke_agent"],
  [/^ai\.\w+\.do(?:Generate|Stream)$/, "chat"],
  [/^ai\.\w+\.doEmbed$/, "embeddings"],
  [/^ai\.toolCall$/, "execute_tool"],
]

const logfirePaths = pathsOf(["logfire"])
const templatePaths = pathsOf(["logfire.msg_template"])

/** By the template of a span's message in Logfire, or the name of a span that Pydantic AI before version 2 makes for it. */
const operationsOfLogfire: readonly (readonly [RegExp, string])[] = [
  [/^Agent run: |^agent run$/, "invoke_agent"],
  [/^Function: |^running tool(?:: |$)/, "execute_tool"],
  [/^(?:Chat completion|Responses API|Message|streaming response) (?:with|from) /i, "chat"],
  [/^Completion with /, "text_completion"],
  [/^Embedding Creation with /, "embeddings"],
]

/** Attributes that no other span has. */
const agentColumns: readonly SpanColumnName[] = [
  "operation_name",
  "agent_name",
  "conversation_id",
  "provider_name",
  "request_model",
  "response_model",
]
const agentPaths = pathsOf(agentColumns.flatMap((column) => columnOf(column).attributes ?? []))

/** `explicit` is the span's `gen_ai.operation.name`, if it has one. Returns `""` for an operation that is not known. */
export function operationOf({ name }: Span, trees: readonly AttributeTree[], explicit: unknown): string {
  if (typeof explicit === "string") return explicit
  const kind = textOf(firstFound(trees, kindPaths))?.toLowerCase() ?? ""
  if (Object.hasOwn(operationOfKind, kind)) return operationOfKind[kind] ?? ""
  const vercel = textOf(firstFound(trees, vercelPaths)) ?? ""
  const ofVercel = operationsOfVercel.find(([pattern]) => pattern.test(vercel))
  if (ofVercel !== undefined) return ofVercel[1]
  const template = firstFound(trees, logfirePaths) === null ? "" : (textOf(firstFound(trees, templatePaths)) ?? name)
  const ofLogfire = operationsOfLogfire.find(([pattern]) => pattern.test(template))
  if (ofLogfire !== undefined) return ofLogfire[1]
  return operations.find((one) => name === one || name.startsWith(`${one} `)) ?? ""
}

/**
 * True for the span of an agent, a model or a tool, and for a step of a framework: what lies between an agent and its requests
 * tells whose they are. `tree` holds the span's attributes.
 */
export function isAgentSpan(span: Span, tree: AttributeTree): boolean {
  const trees = [tree, ...heldConversation([tree])]
  const isNamed = firstFound(trees, agentPaths) !== null || firstFound(trees, kindPaths) !== null
  return isNamed || operationOf(span, [tree], undefined) !== ""
}
