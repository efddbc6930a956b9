/**
 * The spans of a trace as what happened in it, one after the other: evaluation-store-calls 10.
 *
 * A walk down the tree, in the order in which spans began. Each call of a model adds what the user said
 * since the last answer, its children, and its answer; each tool is one message. Instrumentations repeat
 * themselves, and the walk does not: history that a model is sent again, instructions on every call, and
 * the answer of an agent that one of its models already gave.
 */
import type { ChatMessage } from "../../wire/agents/agent-chat.ts"
import { type ChatSpan, contentRefs, durationOf, type SpanNode, spanTree } from "./chat-span.ts"
import { isUserRole, lastUserText, newUserMessages, outputText, textOf } from "./message-texts.ts"
import { ModelToolCalls } from "./model-tool-calls.ts"

const invoke = "invoke_agent"
const tool = "execute_tool"

/** Deeper spans are left out. */
const deepest = 200

export interface ChatOptions {
  /** Calls that a model asked for and that no span carried out become messages too. */
  modelToolCalls: boolean
}

export function chatMessages(spans: readonly ChatSpan[], options: ChatOptions): ChatMessage[] {
  const walk = new ChatWalk(options.modelToolCalls ? new ModelToolCalls(spans) : null)
  for (const root of spanTree(spans)) walk.visit(root, null, 0)
  const { messages } = walk
  const prompt = messages.some(({ type }) => type === "user_message") ? null : promptOf(spans)
  if (prompt !== null) messages.unshift(prompt)
  return withPromptFirst(messages)
}

/** The user speaks before the agent that answers starts. */
function withPromptFirst(messages: ChatMessage[]): ChatMessage[] {
  const [first, second, ...rest] = messages
  if (first?.type === "agent_start" && second?.type === "user_message") return [second, first, ...rest]
  return messages
}

/** The prompt of the invoked agent, or of any span if the agent has none. */
function promptOf(spans: readonly ChatSpan[]): ChatMessage | null {
  const ordered = spans.toSorted(
    (a, b) => Number(b.operation_name === invoke) - Number(a.operation_name === invoke) || a.began - b.began,
  )
  for (const span of ordered) {
    const text = lastUserText(span.input_messages)
    if (text === "") continue
    const refs = spans.flatMap((one) =>
      contentRefs(
        one,
        one.input_messages.filter(({ role }) => isUserRole(role)),
      ),
    )
    return userMessage(span, text, [...new Set(refs)])
  }
  return null
}

class ChatWalk {
  readonly messages: ChatMessage[] = []
  readonly #modelToolCalls: ModelToolCalls | null
  /** The user's last message, to recognise it when it is repeated. */
  #lastSaid = ""
  #instructions: string | null = null
  /** An agent whose instructions are on the calls of its model. */
  #bareStart: ChatMessage | null = null

  constructor(modelToolCalls: ModelToolCalls | null) {
    this.#modelToolCalls = modelToolCalls
  }

  /** `agent`: the nearest around it. @returns whether somebody answered. */
  visit(node: SpanNode, agent: string | null, depth: number): boolean {
    if (depth > deepest) return false
    if (node.span.operation_name === invoke) return this.#visitAgent(node, agent, depth)
    if (node.span.operation_name === tool) return this.#visitTool(node, agent, depth)
    return this.#visitModel(node, agent, depth)
  }

  #visitAgent(node: SpanNode, agent: string | null, depth: number): boolean {
    const { span } = node
    const own = span.agent_name ?? span.agent_id
    const name = own ?? agent ?? spanNameAfter(span, invoke)
    const instructions = instructionsOf(span)
    if (own !== null || span.request_model !== null || instructions !== null || span.tool_definitions !== null) {
      const start = this.#add({ ...message("agent_start", span, own), agent_start: startOf(span, instructions) })
      if (instructions !== null) this.#instructions = instructions
      this.#bareStart = instructions === null ? start : null
    }
    this.#addCompaction(span, name)
    const answered = this.#visitChildren(node, name, depth)
    if (answered) return true
    const answer = answerOf(span, name, node)
    if (answer !== null) this.#add(answer)
    return answer !== null
  }

  #visitTool(node: SpanNode, agent: string | null, depth: number): boolean {
    const { span } = node
    const name = span.agent_name ?? span.agent_id ?? agent
    this.#add({
      ...message("tool_call", span, name),
      tool_call: {
        tool_name: span.tool_name ?? spanNameAfter(span, tool) ?? span.span_name,
        tool_arguments: span.tool_call_arguments,
        tool_result: span.tool_call_result,
        duration_ms: durationOf(span),
        status: span.status_code,
        content_refs: span.content_refs,
      },
    })
    return this.#visitChildren(node, name, depth)
  }

  /** Reasoning without an answer, ahead of a tool call, is shown, and does not count as one. */
  #visitModel(node: SpanNode, agent: string | null, depth: number): boolean {
    const { span } = node
    const name = span.agent_name ?? span.agent_id ?? agent
    this.#addInstructions(span, name)
    this.#addUserMessages(span)
    const answered = this.#visitChildren(node, name, depth)
    const answer = answerOf(span, name, null)
    if (answer !== null) this.#add(answer)
    for (const call of this.#modelToolCalls?.requested(span) ?? []) {
      this.#add({ ...message("tool_call", span, name), tool_call: call })
    }
    return answered || (answer?.assistant_message?.text ?? "") !== ""
  }

  #visitChildren({ children }: SpanNode, agent: string | null, depth: number): boolean {
    return children.map((child) => this.visit(child, agent, depth + 1)).includes(true)
  }

  #addCompaction(span: ChatSpan, agent: string | null): void {
    const { compaction_summary, compaction_items_before, compaction_items_after } = span
    if (compaction_summary === null && (compaction_items_before ?? 0) <= 0) return
    this.#add({
      ...message("context_compacted", span, agent),
      context_compacted: { compaction_summary, compaction_items_before, compaction_items_after },
    })
  }

  #addInstructions(span: ChatSpan, agent: string | null): void {
    const instructions = instructionsOf(span)
    if (instructions === null || instructions === this.#instructions) return
    this.#instructions = instructions
    const bare = this.#bareStart
    this.#bareStart = null
    if (bare?.agent_start != null && bare.agent_name === agent) {
      const { model, tool_definitions, status } = bare.agent_start
      bare.agent_start = {
        model: model ?? span.request_model,
        system_instructions: instructions,
        tool_definitions: tool_definitions ?? span.tool_definitions,
        status,
      }
      return
    }
    this.#add({ ...message("agent_start", span, agent), agent_start: startOf(span, instructions) })
  }

  #addUserMessages(span: ChatSpan): void {
    for (const userInput of newUserMessages(span.input_messages)) {
      const text = textOf(userInput.content)
      const refs = contentRefs(span, [userInput])
      const same = JSON.stringify([text, refs])
      if ((text === "" && refs.length === 0) || same === this.#lastSaid) continue
      this.#lastSaid = same
      this.#bareStart = null
      this.#add(userMessage(span, text, refs))
    }
  }

  #add(added: ChatMessage): ChatMessage {
    this.messages.push(added)
    return added
  }
}

function message(type: ChatMessage["type"], span: ChatSpan, agent: string | null): ChatMessage {
  return {
    type,
    span_id: span.span_id,
    agent_name: agent,
    agent_version: span.agent_version,
    status_code: span.status_code,
    status_message: span.status_message,
    error_type: span.error_type,
    started_at: span.started_at,
    user_message: null,
    assistant_message: null,
    tool_call: null,
    agent_start: null,
    agent_handoff: null,
    context_compacted: null,
    feedback: null,
  }
}

/** Span fields of a message that a span reports but that no span produced. */
const nobodys = { span_id: null, agent_version: null, status_code: null, status_message: null, error_type: null }

function userMessage(span: ChatSpan, text: string, refs: string[]): ChatMessage {
  return { ...message("user_message", span, "User"), ...nobodys, user_message: { text, content_refs: refs } }
}

/** Says that the chat ends before the trace does. Of the types of messages one is about what was left out. */
export function cutOff(spans: readonly ChatSpan[], count: number): ChatMessage[] {
  const last = spans.at(-1)
  if (last === undefined || spans.length >= count) return []
  const compaction_summary = `The chat is made of the first ${spans.length} of the turn's ${count} spans, and so are its sums. /agents/spans/query lists the others.`
  const context_compacted = {
    compaction_summary,
    compaction_items_before: count,
    compaction_items_after: spans.length,
  }
  return [{ ...message("context_compacted", last, null), ...nobodys, context_compacted }]
}

function startOf(span: ChatSpan, instructions: string | null) {
  return {
    model: span.request_model,
    system_instructions: instructions,
    tool_definitions: span.tool_definitions,
    status: span.status_code,
  }
}

/** Conventions without a place of their own for instructions have them among the messages. */
function instructionsOf({ system_instructions, input_messages }: ChatSpan): string | null {
  const said = input_messages.filter(({ role }) => role === "system" || role === "developer")
  const texts = system_instructions.length > 0 ? system_instructions : said.map(({ content }) => textOf(content))
  const instructions = texts.filter((text) => text !== "").join("\n")
  return instructions === "" ? null : instructions
}

/** `invoke_agent planner` → `planner`. */
function spanNameAfter({ span_name }: ChatSpan, operation: string): string | null {
  const name = span_name?.startsWith(`${operation} `) === true ? span_name.slice(operation.length + 1).trim() : ""
  return name === "" ? null : name
}

/** `whole`: the usage is that of everything below too, since nobody below answered. */
function answerOf(span: ChatSpan, agent: string | null, whole: SpanNode | null): ChatMessage | null {
  const text = outputText(span.output_messages)
  if (text === "" && span.reasoning_content === null) return null
  const spans = whole === null ? [span] : [...below(whole)]
  const told = whole === null ? [] : spans.filter((one) => one.isCounted && tellsTokens(one))
  // Where nothing that counts is below, the span shows what it said.
  const counted = told.length > 0 ? told : [span]
  const sum = (of: (one: ChatSpan) => number | null) => sumOf(counted.map(of))
  return {
    ...message("assistant_message", span, agent),
    assistant_message: {
      text,
      model: span.response_model ?? span.request_model,
      reasoning_content: spans.find((one) => one.reasoning_content !== null)?.reasoning_content ?? null,
      reasoning_tokens: sum((one) => one.reasoning_tokens),
      input_tokens: sum((one) => one.input_tokens),
      output_tokens: sum((one) => one.output_tokens),
      input_cost_usd: sum((one) => one.input_cost_usd),
      output_cost_usd: sum((one) => one.output_cost_usd),
      total_cost_usd: sum((one) => one.total_cost_usd),
      duration_ms: durationOf(span),
      status: span.status_code,
      content_refs: contentRefs(span, span.output_messages),
    },
  }
}

function tellsTokens({ input_tokens, output_tokens }: ChatSpan): boolean {
  return (input_tokens ?? 0) > 0 || (output_tokens ?? 0) > 0
}

function* below(node: SpanNode): Iterable<ChatSpan> {
  const waiting = [node]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    yield next.span
    waiting.push(...next.children)
  }
}

/** null: none of them is known. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
