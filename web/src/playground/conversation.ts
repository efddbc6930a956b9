/**
 * A conversation that several models are asked to go on with. All share its prompt; from there on each column has turns of
 * its own, since each model answers in its own way.
 */

export interface ToolCall {
  id: string
  name: string
  /** As the model wrote them. */
  arguments: string
}

/** A token as it was sampled, with the likeliest in its place. */
export interface SampledToken {
  text: string
  logprob: number
  top: { text: string; logprob: number }[]
}

export interface Failure {
  message: string
  /** As the server's list of errors names it. */
  code: string
  requestId: string | null
  /** When to ask again, in milliseconds since 1970, where the server says so. */
  retryAt: number | null
}

export type Verdict = "better" | "worse" | "equal"

/** How an answer came about. */
export interface Answer {
  state: "running" | "done" | "stopped" | "failed"
  model: string
  /** The call that it is recorded as; null: it is not, or not yet. */
  callId: string | null
  traceId: string | null
  reasoning: string
  tokens: SampledToken[]
  finish: string | null
  usage: { input: number; cached: number; output: number } | null
  firstTokenMs: number | null
  totalMs: number | null
  failure: Failure | null
  /** The user has put it right: the recorded call holds another text. */
  isCorrected?: true
  mark?: "good" | "bad"
  verdict?: Verdict
}

export interface Turn {
  role: string
  text: string
  toolCalls?: ToolCall[]
  /** Id of the call that a tool's result answers. */
  toolCallId?: string
  answer?: Answer
}

/** After the prompt: what one model said, and what it was told. */
export interface Column {
  model: string
  turns: Turn[]
}

export interface Conversation {
  prompt: Turn[]
  /** JSON of a list of tools; empty for none. */
  tools: string
  /** JSON schema that answers are held to; empty for none. */
  schema: string
  columns: Column[]
  /** In which order the columns stand while a vote is blind, and whether their models are shown since. */
  blind?: { order: number[]; isOpen: boolean }
}

export const emptyConversation: Conversation = {
  prompt: [{ role: "user", text: "" }],
  tools: "",
  schema: "",
  columns: [],
}

/** More models than this are not told apart any more. */
export const mostColumns = 6

export function hasAnswers({ columns }: Pick<Conversation, "columns">): boolean {
  return columns.some(({ turns }) => turns.length > 0)
}

/** The columns of these models in their order: what has been said stays where its model stays. */
export function withModels(columns: readonly Column[], models: readonly string[]): Column[] {
  return models.map((model, index) => {
    const same = columns[index]
    return same?.model === model ? same : { model, turns: [] }
  })
}

export function withColumn(conversation: Conversation, index: number, turns: Turn[]): Conversation {
  const columns = conversation.columns.map((column, at) => (at === index ? { ...column, turns } : column))
  return { ...conversation, columns }
}

/** With more about the answer that is recorded as a call, wherever it stands by now. */
export function withAnswer(conversation: Conversation, callId: string, more: Partial<Answer>): Conversation {
  const columns = conversation.columns.map((column) => ({
    ...column,
    turns: column.turns.map((turn) =>
      turn.answer?.callId === callId ? { ...turn, answer: { ...turn.answer, ...more } } : turn,
    ),
  }))
  return { ...conversation, columns }
}

/** The answer that a column has ended with; null: it was asked nothing, or told something since. */
export function lastAnswer({ turns }: Column): (Turn & { answer: Answer }) | null {
  const last = turns.at(-1)
  return last?.answer === undefined ? null : (last as Turn & { answer: Answer })
}

/** Calls of the last answer that have no result yet. */
export function openToolCalls({ turns }: Column): ToolCall[] {
  const at = turns.findLastIndex(({ toolCalls = [] }) => toolCalls.length > 0)
  if (at === -1) return []
  const after = turns.slice(at + 1)
  if (after.some(({ role }) => role !== "tool")) return []
  const done = new Set(after.map(({ toolCallId }) => toolCallId))
  return (turns[at]?.toolCalls ?? []).filter(({ id }) => !done.has(id))
}

/** The turns before a turn of a column: the prompt and the answers until then. */
export function promptBefore({ prompt, columns }: Conversation, column: number, turn: number): Turn[] {
  return [...prompt, ...(columns[column]?.turns.slice(0, turn) ?? [])]
}

/** Whether a column can be told something new: it waits for no answer and for no tool's result. */
export function canGoOn(column: Column): boolean {
  const last = lastAnswer(column)
  return (
    last !== null &&
    last.answer.state !== "running" &&
    last.answer.state !== "failed" &&
    openToolCalls(column).length === 0
  )
}

/** A conversation that fits into an address: one question, perhaps with instructions, and nothing else. */
export interface SmallConversation {
  system: string
  user: string
}

/** A longer one does not go into an address that people send each other. */
const smallLength = 1_500

/** null: it is more than an address holds. */
export function smallOf(conversation: Conversation): SmallConversation | null {
  const { prompt, tools, schema } = conversation
  if (tools !== "" || schema !== "" || hasAnswers(conversation)) return null
  const [first, second, third] = prompt
  const isPlain = prompt.every(({ toolCalls, toolCallId }) => toolCalls === undefined && toolCallId === undefined)
  if (!isPlain || third !== undefined) return null
  const system = first?.role === "system" ? first.text : ""
  const user = first?.role === "system" ? second : first
  if (user !== undefined && user.role !== "user") return null
  if (first?.role !== "system" && second !== undefined) return null
  if (system.length + (user?.text.length ?? 0) > smallLength) return null
  return { system, user: user?.text ?? "" }
}

export function conversationOf({ system, user }: Partial<SmallConversation>): Conversation {
  const prompt = [...(system ? [{ role: "system", text: system }] : []), { role: "user", text: user ?? "" }]
  return { ...emptyConversation, prompt }
}
