/** Items of OpenAI's Responses to the turns of a chat, so that the same dialogue gives the same prompt by either (art-0.5.23 8). */
import type { ChatRequest } from "../../wire/inference/chat.ts"
import type { ResponseInputItem, ResponsesRequest } from "../../wire/inference/responses.ts"
import { answerId } from "../completion-request.ts"
import { refused } from "../unsupported.ts"

type ChatMessage = ChatRequest["messages"][number]

/** The input as items that can be listed: each with its type and an id. */
export function toItems(input: ResponsesRequest["input"]): ResponseInputItem[] {
  const items = typeof input === "string" ? [{ role: "user" as const, content: input }] : input
  return items.map((item) => {
    const id = item.id ?? ownId(item)
    if (!isMessage(item)) return { ...item, id }
    const type = item.role === "assistant" ? "output_text" : "input_text"
    const content = typeof item.content === "string" ? [{ type, text: item.content }] : item.content
    return { ...item, type: "message", id, content }
  })
}

/**
 * The same items, those with an id of one before them with another, which is the same each time: clients page through them by
 * their ids.
 */
export function withUniqueIds(items: readonly ResponseInputItem[]): ResponseInputItem[] {
  const taken = new Set(items.map(({ id }) => id))
  const before = new Set<ResponseInputItem["id"]>()
  return items.map((item, place) => {
    let { id } = item
    for (let turn = place; before.has(id) || (id !== item.id && taken.has(id)); turn += items.length)
      id = `${item.id}_${turn}`
    before.add(id)
    return id === item.id ? item : { ...item, id }
  })
}

function ownId(item: ResponseInputItem): string {
  return answerId(isMessage(item) ? "msg" : "fc")
}

/** @throws {HeddleError} `invalid_request` for an item that cannot be served; `where` names the field that has them. */
export function toChatMessages(items: readonly ResponseInputItem[], where: string): ChatMessage[] {
  const turns = new Turns()
  for (const [index, item] of items.entries()) addItem(turns, item, `${where}[${index}]`)
  return turns.messages
}

function isMessage({ type, role }: ResponseInputItem): boolean {
  return type === "message" || (type == null && role != null)
}

const outputs = ["reasoning", "function_call"]

function addItem(turns: Turns, item: ResponseInputItem, where: string): void {
  const { type, content, call_id: id } = item
  if (isMessage(item)) return addMessage(turns, item, where)
  if (type === "function_call_output") {
    if (id == null) throw refused(`${where}.call_id`, "the id of the call that it answers is missing")
    return turns.add({ role: "tool", tool_call_id: id, content: textOf(item.output ?? "", `${where}.output`) })
  }
  if (type === "reasoning") {
    // Another provider's, without its text, tells these models nothing.
    return turns.think(content == null ? "" : textOf(content, `${where}.content`))
  }
  if (type === "function_call") {
    const { name } = item
    if (id == null || name == null) throw refused(where, "a function_call needs its call_id and its name")
    return turns.call({ id, type: "function", function: { name, arguments: item.arguments ?? "{}" } })
  }
  const known = ["message", ...outputs, "function_call_output"].map((one) => `"${one}"`).join(", ")
  throw refused(where, `items of the type ${JSON.stringify(type ?? null)} are not supported; ${known} are`)
}

function addMessage(turns: Turns, { role, content }: ResponseInputItem, where: string): void {
  if (role == null) throw refused(`${where}.role`, "the role of the message is missing")
  const text = textOf(content ?? "", `${where}.content`)
  if (role === "assistant") turns.say(text)
  else turns.add({ role, content: text })
}

const textTypes: ReadonlySet<string> = new Set(["input_text", "output_text", "text", "refusal", "reasoning_text"])

function textOf(content: NonNullable<ResponseInputItem["content"]>, where: string): string {
  if (typeof content === "string") return content
  const texts = content.map(({ type, text, refusal }, index) => {
    const place = `${where}[${index}]`
    if (!textTypes.has(type))
      throw refused(place, `parts of the type "${type}" are not supported; models are given text only`)
    const given = text ?? refusal
    if (given == null) throw refused(place, "its text is missing")
    return given
  })
  return texts.join("")
}

type AssistantTurn = ChatMessage & { content: string; tool_calls?: object[] }

/** Collects the items of one model turn: its reasoning, its text and its calls. */
class Turns {
  readonly messages: ChatMessage[] = []
  /** The turn of the assistant that further items may belong to. */
  #open: AssistantTurn | null = null
  #hasSaid = false

  add(message: ChatMessage): void {
    this.#open = null
    this.messages.push(message)
  }

  think(text: string): void {
    this.#begin()["reasoning"] = text
  }

  /** A second text belongs to the turn only when a call is between them. */
  say(text: string): void {
    const isNew = this.#open === null || (this.#hasSaid && this.#open.tool_calls === undefined)
    const turn = isNew || this.#open === null ? this.#begin() : this.#open
    turn.content += text
    this.#hasSaid = true
  }

  call(call: object): void {
    const turn = this.#open ?? this.#begin()
    turn.tool_calls = [...(turn.tool_calls ?? []), call]
  }

  #begin(): AssistantTurn {
    const turn: AssistantTurn = { role: "assistant", content: "" }
    this.#open = turn
    this.#hasSaid = false
    this.messages.push(turn)
    return turn
  }
}
