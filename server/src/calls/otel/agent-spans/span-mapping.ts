/** From a span of OpenTelemetry to a span of an agent: evaluation-store-calls 10. */
import { memberText, objectText } from "../../../json/json-members.ts"
import { answers } from "../../../storage/traces/agents/counted-usage.ts"
import { columnOf, type SpanColumnName } from "../../../storage/traces/agents/span-columns.ts"
import type { NewAgentSpan } from "../../../storage/traces/agents/span-table.ts"
import { type AttributePath, firstFound, type Found, pathsOf, textOf } from "../spans/attribute-lookup.ts"
import {
  detailEvents,
  eventMessages,
  eventPrefix,
  heldEventsName,
  inputNames,
  outputNames,
  wholeTalkNames,
} from "../spans/attribute-names.ts"
import { attributeTree, type AttributeTree, jsonOfNode, Leaf, readForm } from "../spans/attribute-tree.ts"
import { heldConversation } from "../spans/held-conversation.ts"
import { heldCounts } from "../spans/held-counts.ts"
import { withHeldEvents } from "../spans/held-events.ts"
import type { SpanOwner } from "../otlp/otlp-input.ts"
import { modelInParameters } from "../spans/span-model.ts"
import { runOf, storedSpanTime } from "../spans/span-rows.ts"
import { opNameOf, parentOf } from "../spans/span-rules.ts"
import { statusOf } from "../spans/span-status.ts"
import { type Span, spanKinds, statusCodes } from "../trace-request.ts"
import { attributeColumns, hasColumn } from "./attribute-columns.ts"
import { customAttributes } from "./custom-attributes.ts"
import { instructionsIn, messagesIn, reasoningIn } from "./span-messages.ts"
import { operationOf } from "./span-operation.ts"

/** Operations whose input and output are messages, whatever their attributes are called. */
const speaking = new Set([...answers, "invoke_agent"])

/** A span of Langfuse, which has this one, is named as its agent or tool is. */
const bareNamePaths = pathsOf(["langfuse.observation.type"])
/** Logfire's span of an agent or tool of the OpenAI Agents SDK has the name in `name`. */
const logfirePaths = { isOne: pathsOf(["logfire.msg_template"]), name: pathsOf(["name"]) }

const exceptionPaths = { type: pathsOf(["exception.type"]), message: pathsOf(["exception.message"]) }

/** Names of messages, and of what an agent was given and gave. */
const payloads = {
  input: {
    messages: pathsOf([
      ...attributesOf("input_messages"),
      "weave.prompt",
      "gen_ai.prompt",
      "llm.input_messages",
      "ai.prompt.messages",
    ]),
    any: pathsOf(inputNames.filter((name) => !name.startsWith(eventPrefix))),
    events: "events.gen_ai.user.message",
    role: "user",
  },
  output: {
    messages: pathsOf([
      ...attributesOf("output_messages"),
      "weave.completion",
      "gen_ai.completion",
      "llm.output_messages",
      "ai.response.text",
      "ai.response.object",
    ]),
    any: pathsOf(outputNames.filter((name) => !name.startsWith(eventPrefix))),
    events: "events.gen_ai.choice",
    role: "assistant",
  },
} as const

const toolPaths = {
  arguments: pathsOf([...attributesOf("tool_call_arguments"), ...inputNames]),
  result: pathsOf([...attributesOf("tool_call_result"), ...outputNames]),
}
const ownToolPaths = {
  arguments: pathsOf(attributesOf("tool_call_arguments")),
  result: pathsOf(attributesOf("tool_call_result")),
}
const toolEventPaths = pathsOf(["content", "message"])
/** Vercel's AI SDK tells the calls of tools of an answer apart from its text. */
const vercelPaths = {
  text: pathsOf(["ai.response.text"]),
  toolCalls: pathsOf(["ai.response.toolCalls"]),
  finishReason: pathsOf(["ai.response.finishReason"]),
}

const instructionPaths = pathsOf(attributesOf("system_instructions"))

function attributesOf(column: SpanColumnName): readonly string[] {
  return columnOf(column).attributes ?? []
}

/** Events of older conventions that say what attributes say today. */
const toolEvents: ReadonlySet<string> = new Set(["gen_ai.tool.input", "gen_ai.tool.output"])

/**
 * Without the raw span, which the span's call holds. `tree`: of the span's attributes.
 * @throws {HeddleError} `value_error` for times that cannot be stored.
 */
export function mapAgentSpan(sent: Span, tree: AttributeTree, owner: SpanOwner): NewAgentSpan {
  const span = withHeldEvents(sent, tree)
  const messageEvents = span.events.filter(({ name }) => detailEvents.has(name) || toolEvents.has(name))
  const trees = [tree, ...messageEvents.map(({ attributes }) => attributeTree(attributes))]
  const columns = attributeColumns([...trees, ...heldCounts(trees), ...heldConversation(trees)])
  const operation = operationOf(span, trees, columns.operation_name)
  const input = messages(span, trees, operation, "input")
  const output = messages(span, trees, operation, "output")
  const consumed = [...input.names, ...output.names, ...(span === sent ? [] : [heldEventsName])]
  return {
    ...columns,
    project_id: owner.id,
    ...identity(span, operation),
    ...names(span, trees, operation, columns),
    ...requestedModel(trees, columns),
    ...outcome(span, trees, columns),
    ...tools(span, trees, operation),
    provider_name: ((columns.provider_name ?? "") as string).toLowerCase(),
    input_messages: input.messages,
    output_messages: output.messages,
    system_instructions: instructions(trees),
    reasoning_content: columns.reasoning_content ?? reasoningIn(output.messages),
    ...customAttributes(span.attributes, (name) => hasColumn(name) || isWithin(name, consumed)),
    ...(typeof columns.wb_run_id === "string" ? { wb_run_id: runOf(columns.wb_run_id, owner) } : {}),
    wb_user_id: owner.userId,
  }
}

function isWithin(name: string, consumed: readonly string[]): boolean {
  return consumed.some((one) => name === one || name.startsWith(`${one}.`))
}

function identity(span: Span, operation: string) {
  const startNanoseconds = span.startTimeUnixNano === 0n ? span.endTimeUnixNano : span.startTimeUnixNano
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: parentOf(span) ?? "",
    span_name: opNameOf(span),
    span_kind: spanKinds[span.kind] ?? "UNSPECIFIED",
    started_at: storedSpanTime(startNanoseconds / 1000n, span, "start"),
    ended_at: span.endTimeUnixNano === 0n ? null : storedSpanTime(span.endTimeUnixNano / 1000n, span, "end"),
    operation_name: operation,
  }
}

/** Where no attribute names the agent or the tool, the span's name does. */
function names(
  span: Span,
  trees: readonly AttributeTree[],
  operation: string,
  { agent_name, tool_name }: Partial<Record<SpanColumnName, unknown>>,
) {
  const nameOf = (wanted: string) => (operation === wanted ? ownName(span, trees, operation) : "")
  return { agent_name: agent_name ?? nameOf("invoke_agent"), tool_name: tool_name ?? nameOf("execute_tool") }
}

/** As of calls, so that a span costs the same in both views. */
function requestedModel(
  trees: readonly AttributeTree[],
  { request_model, response_model }: Partial<Record<SpanColumnName, unknown>>,
) {
  if (request_model !== undefined || response_model !== undefined) return {}
  return { request_model: modelInParameters(trees) ?? "" }
}

/** What stands behind the operation, as OpenTelemetry's conventions have it; "" for any other name, but Langfuse's and Logfire's. */
function ownName({ name }: Span, trees: readonly AttributeTree[], operation: string): string {
  const behind = name.startsWith(`${operation} `) ? name.slice(operation.length).trim() : ""
  if (behind !== "") return behind
  if (firstFound(trees, logfirePaths.isOne) !== null) return textOf(firstFound(trees, logfirePaths.name)) ?? ""
  return firstFound(trees, bareNamePaths) === null ? "" : name
}

/** A failure without a message is explained by its exception. */
function outcome(span: Span, trees: readonly AttributeTree[], columns: Partial<Record<SpanColumnName, unknown>>) {
  const { code, message } = statusOf(span, trees)
  const status = statusCodes[code] ?? "UNSET"
  const thrown = status === "ERROR" ? span.events.findLast(({ name }) => name === "exception") : undefined
  const thrownTrees = thrown === undefined ? [] : [attributeTree(thrown.attributes)]
  return {
    status_code: status,
    status_message: message || (textOf(firstFound(thrownTrees, exceptionPaths.message)) ?? ""),
    error_type: columns.error_type ?? textOf(firstFound(thrownTrees, exceptionPaths.type)) ?? "",
  }
}

function tools(span: Span, trees: readonly AttributeTree[], operation: string) {
  const isTool = operation === "execute_tool"
  const paths = isTool ? toolPaths : ownToolPaths
  const told = (name: string) => (isTool ? toolEventText(span, name) : "")
  return {
    tool_call_arguments: textOf(firstFound(trees, paths.arguments)) ?? told("gen_ai.tool.message"),
    tool_call_result: textOf(firstFound(trees, paths.result)) ?? told("gen_ai.choice"),
  }
}

/** Strands, as long as it is not asked for newer conventions: what a tool is given and gives are messages. */
function toolEventText({ events }: Span, name: string): string {
  const event = events.find((one) => one.name === name)
  return event === undefined ? "" : (textOf(firstFound([attributeTree(event.attributes)], toolEventPaths)) ?? "")
}

function instructions(trees: readonly AttributeTree[]): string[] {
  const found = firstFound(trees, instructionPaths)
  return found === null ? [] : instructionsIn(jsonOfNode(found.node, readForm))
}

interface Messages {
  messages: NonNullable<NewAgentSpan["input_messages"]>
  /** Attributes that they are made of. */
  names: string[]
}

function messages(span: Span, trees: readonly AttributeTree[], operation: string, side: "input" | "output"): Messages {
  const { messages: named, any, events, role } = payloads[side]
  const calling = side === "output" ? callsOfVercel(trees, role) : null
  if (calling !== null) return calling
  const own = firstFound(trees, named)
  if (own !== null) return read(own, role)
  const ofEvents = eventMessagesOf(span, events, role)
  if (ofEvents.length > 0) return { messages: ofEvents, names: [] }
  const other: readonly AttributePath[] = speaking.has(operation) ? any : []
  const found = firstFound(trees, other)
  if (found === null) return { messages: [], names: [] }
  const all = read(found, role)
  return side === "input" && wholeTalkNames.has(found.name) ? { ...all, messages: untilAnswer(all.messages) } : all
}

/** Without the answer at the end. */
function untilAnswer(talk: Messages["messages"]): Messages["messages"] {
  return talk.slice(0, talk.findLastIndex(({ role }) => role !== "assistant") + 1)
}

function read({ name, node }: Found, role: string): Messages {
  const json = jsonOfNode(node, readForm)
  // Vercel's AI SDK: an answer of a form, whatever members it has, and a prompt beside its instructions.
  if (name === "ai.response.object") return { messages: [{ role, content: json, finish_reason: "" }], names: [name] }
  const prompt = name === "ai.prompt" ? memberText(json, "prompt") : null
  return { messages: messagesIn(prompt ?? json, role), names: [name] }
}

/** null: the answer calls no tool. */
function callsOfVercel(trees: readonly AttributeTree[], role: string): Messages | null {
  const calls = firstFound(trees, vercelPaths.toolCalls)
  if (calls === null) return null
  const text = firstFound(trees, vercelPaths.text)
  const finishReason = textOf(firstFound(trees, vercelPaths.finishReason))
  const message = objectText([
    ["content", JSON.stringify(textOf(text))],
    ["tool_calls", jsonOfNode(calls.node, readForm)],
    ["finish_reason", JSON.stringify(finishReason)],
  ])
  return { messages: messagesIn(message, role), names: [calls.name, ...(text === null ? [] : [text.name])] }
}

/** The conventions before 1.37 send each message as an event of the span. */
function eventMessagesOf({ events }: Span, name: string, role: string): Messages["messages"] {
  const roles = eventMessages[name] ?? new Map<string, string>()
  return events.flatMap((event) => {
    const eventRole = roles.get(event.name)
    if (eventRole === undefined) return []
    const tree = attributeTree(event.attributes)
    const node = tree.has("role") ? tree : new Map([["role", new Leaf(eventRole)], ...tree])
    return messagesIn(jsonOfNode(node, readForm), role)
  })
}
