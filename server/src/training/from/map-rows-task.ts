/**
 * From calls as they were read to rows of training data, a chunk at a time, on another thread where the chunk is large.
 *
 * A line of a chunk is `[[id, exception, "1" if it has ended, …fields], inputs, output, attributes]`. What is wrong with a
 * row is told by its cause and in words that name the value.
 */
import { hash } from "node:crypto"
import { holdsNumber, mayChangeNumbers, parseExact } from "../../json/exact-json.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { plainTask } from "../../threads/thread-task.ts"
import type { DropCause } from "../../wire/training/train-from.ts"
import { Drop, extraText, weighedSum } from "./field-scores.ts"
import { recordedTokens, type RecordedTokens } from "./recorded-tokens.ts"
import type { FieldPlace, PlannedPairs, PlannedScore, RowPlan } from "./row-plan.ts"
import { type Answered, answerOf, promptMessages, lastAnswer, type Recorded, toolsOf } from "./shapes/chat.ts"
import { fieldText, firstOf, unpacked, valueAt } from "./shapes/loose.ts"
import { type Message, NotText } from "./shapes/message.ts"

/** Facts about a row that only its source knows. */
export interface RowExtra {
  /** Texts of fields, by name. */
  fields: Record<string, string>
  /** Fields on which people differ and nobody has decided. */
  disputed: string[]
  /** By the name of a field, why it has no text; without it that is all that is said. */
  absent: Record<string, string>
  feedbackIds: string[]
  rowDigest: string | null
  /** Why it is none to train on. */
  drop: { cause: DropCause; detail: string } | null
}

export interface MapInput {
  lines: Buffer
  plan: RowPlan
  /** By the id of the line; null: the source says nothing. */
  extras: Record<string, RowExtra> | null
  /** false: only what is counted. */
  wantsText: boolean
  /** Rows of so many bytes may be too long. */
  longBytes: number
  /** How many rows are wanted to be shown. */
  previews: number
}

export interface Dropped {
  id: string
  cause: DropCause
  detail: string
}

export interface MappedRow {
  /** Id of the row's call, or of the rollout or dataset row it was made from. */
  id: string
  rowDigest: string | null
  /** Id of the rollout that the row was made from; `id` is then not a call's. */
  rolloutId: string | null
  feedbackIds: string[]
  score: number | null
  isCorrected: boolean
  /** The group within which it is compared, or null. */
  group: string | null
  /** Equal for rows that say the same. */
  same: string
  /** What its source says of it as one of a pair; null: nothing, or it is none. */
  pair: PairEvidence | null
  /** Of `bytes`, those of its answer. */
  answerBytes: number
  /** Of its JSON in `text`, or what it would have there. */
  bytes: number
  /** Token counts that its client was told. */
  usage: { prompt: number; completion: number } | null
  tokens: Pick<RecordedTokens, "ledgerKey" | "model" | "own"> | null
  /** Its JSON, where it may be too long to train on; else null. */
  long: string | null
}

/** Which of its row's two answers it is, or the ids of those that it was preferred to and whether it was found no better. */
export type PairEvidence = { side: "chosen" | "rejected" } | { over: string[]; isEqual: boolean }

export interface MapResult {
  /** The JSON of the rows, one after the other; empty unless it was wanted. */
  text: Buffer
  rows: MappedRow[]
  dropped: Dropped[]
  previews: RowPreview[]
  read: number
}

export interface RowPreview {
  id: string
  question: string
  answer: string
  isCorrected: boolean
  score: number | null
  /** Equal to the row's. */
  same: string
}

/** Of a chunk that is worked on at once: parsing takes about 20 ms a MiB. */
const ownThreadBytes = 128 * 1024

export const mapRowsTask = plainTask<MapInput, MapResult>({
  name: "train-from-rows",
  ownThreadBytes,
  work: (input) => mapRows(input),
})

const lineFeed = 10
/** Bytes of a row that is sent to be counted. */
const mostCounted = 4 * 1024 * 1024

function mapRows({ lines, plan, extras, wantsText, longBytes, previews }: MapInput): MapResult {
  const result: MapResult = { text: Buffer.alloc(0), rows: [], dropped: [], previews: [], read: 0 }
  const texts: Buffer[] = []
  for (let begin = 0; begin < lines.length;) {
    const end = lines.indexOf(lineFeed, begin)
    const line = lines.toString("utf8", begin, end === -1 ? lines.length : end)
    begin = end === -1 ? lines.length : end + 1
    if (line === "") continue
    result.read += 1
    const made = rowOf(line, plan, extras)
    if ("cause" in made) {
      result.dropped.push(made)
      continue
    }
    for (const { text, messages, answer, ...row } of made) {
      const bytes = Buffer.from(text)
      const isLong = plan.kind !== "rl" && bytes.length >= longBytes && bytes.length < mostCounted
      result.rows.push({ ...row, bytes: bytes.length, long: isLong ? text : null })
      if (wantsText) texts.push(bytes)
      if (result.previews.length >= previews) continue
      const { id, isCorrected, score, same } = row
      const question = previewText(messages.findLast(({ role }) => role === "user"))
      result.previews.push({ id, question, answer: previewText(answer), isCorrected, score, same })
    }
  }
  return { ...result, text: Buffer.concat(texts) }
}

const longestPreview = 500

function previewText(message: Message | undefined): string {
  const text = message?.content ?? ""
  const content = text === "" && message?.["tool_calls"] !== undefined ? JSON.stringify(message["tool_calls"]) : text
  return content.length > longestPreview ? `${content.slice(0, longestPreview)}…` : content
}

type Made = Omit<MappedRow, "bytes" | "long"> & { text: string; messages: Message[]; answer: Message }

interface Line {
  texts: (string | null)[]
  recorded: Recorded
}

function parsed(line: string, parse: (text: string) => unknown): Line {
  const [texts, inputs, output, attributes] = parse(line) as [(string | null)[], unknown, unknown, unknown]
  return { texts, recorded: { inputs, output, attributes } }
}

function rowOf(line: string, plan: RowPlan, extras: Record<string, RowExtra> | null): Made[] | Dropped {
  const first = parsed(line, JSON.parse)
  const id = first.texts[0] ?? ""
  const extra = extras?.[id] ?? null
  try {
    if (extra?.drop != null) throw new Drop(extra.drop.cause, extra.drop.detail)
    const [, exception, ended] = first.texts
    if (exception != null && exception !== "") throw new Drop("failed", exception.slice(0, 200))
    if (ended !== "1") throw new Drop("unfinished", "it has no end yet")
    const fields = new Fields(first, extra)
    const made = chatsOf(first.recorded, plan, fields)
    // A template renders 1.0 and 1 differently.
    const holds = made.some(({ messages, tools, answer }) => holdsNumber([messages, tools, answer]))
    const exact = holds && mayChangeNumbers(line) ? chatsOf(parsed(line, parseExact).recorded, plan, fields) : made
    const feedbackIds = plan.feedbackIds.flatMap((at) => first.texts[at + 3] ?? [])
    const origin = {
      id,
      rowDigest: plan.ofDataset ? id : (extra?.rowDigest ?? null),
      rolloutId: null,
      feedbackIds: [...new Set([...feedbackIds, ...(extra?.feedbackIds ?? [])])],
    }
    return exact.map((chat) => ({ ...origin, ...rowText(first.recorded, plan, fields, chat) }))
  } catch (error) {
    if (error instanceof NotText) return { id, cause: "not_text", detail: error.message }
    if (error instanceof Drop) return { id, cause: error.dropCause, detail: error.message }
    throw error
  }
}

/** Texts of the fields of one row. */
class Fields {
  readonly #line: Line
  readonly #extra: RowExtra | null

  constructor(line: Line, extra: RowExtra | null) {
    this.#line = line
    this.#extra = extra
  }

  /** null: it has none. @throws {Drop} where people differ about it. */
  text({ from, at, name }: FieldPlace): string | null {
    if (from === "line") return this.#line.texts[at + 3] ?? null
    if (from === "row") return fieldText(valueAt(this.#line.recorded.inputs, at))
    return extraText(this.#extra, { at, name })
  }

  /** @throws {Drop} */
  score(parts: readonly PlannedScore[]): number | null {
    if (parts.length === 0) return null
    return weighedSum(parts, (place) => this.text(place), this.#extra?.absent ?? {})
  }
}

interface Chat {
  messages: Message[]
  tools: unknown[] | null
  answer: Message
  answered: Answered | null
  isCorrected: boolean
  pair: PairEvidence | null
}

/** One, or the two of a pair of fields. @throws {Drop} @throws {NotText} */
function chatsOf(recorded: Recorded, plan: RowPlan, fields: Fields): Chat[] {
  const { pairs } = plan
  if (pairs?.from === "vote") return [{ ...chatOf(recorded, plan, fields), pair: voteOf(pairs, fields) }]
  if (pairs?.from !== "fields") return [chatOf(recorded, plan, fields)]
  const chosen = pairs.chosen === null ? null : answerIn(pairs.chosen, fields)
  const rejected = pairs.rejected === null ? null : answerIn(pairs.rejected, fields)
  const prompt = chatOf(recorded, plan, fields, chosen ?? rejected)
  const own = chosen === null || rejected === null ? chatOf(recorded, plan, fields).answer : null
  const pair = [chosen ?? own, rejected ?? own] as [Message, Message]
  if (JSON.stringify(pair[0]) === JSON.stringify(pair[1])) throw new Drop("tie", "both answers say the same")
  return pair.map((answer, place) => ({
    ...prompt,
    answer,
    isCorrected: false,
    pair: { side: place === 0 ? "chosen" : "rejected" },
  }))
}

/** @throws {Drop} */
function answerIn(place: FieldPlace, fields: Fields): Message {
  const message = messageIn(fields.text(place))
  if (message === null) throw new Drop("no_other", `${place.name} has no answer`)
  return message
}

/** null: nobody has voted. */
function voteOf({ over, value }: Extract<PlannedPairs, { from: "vote" }>, fields: Fields): PairEvidence | null {
  const verdict = fields.text(value)
  if (verdict === null) return null
  const ids = unpacked(fields.text(over) ?? "[]")
  return { over: Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [], isEqual: verdict === "equal" }
}

/** `given`: the answer, in the place of the row's own. @throws {Drop} @throws {NotText} */
function chatOf(recorded: Recorded, plan: RowPlan, fields: Fields, given: Message | null = null): Chat {
  const prompt = promptMessages(recorded, plan.messages)
  if (prompt === null || prompt.length === 0) {
    const where = plan.messages === null ? "none of the usual fields" : plan.messages.join(".")
    throw new Drop("no_messages", `${where} holds messages; its inputs are ${keysOf(recorded.inputs)}`)
  }
  const corrected = given ?? correctionOf(plan, fields)
  const isWhole = plan.ofDataset && plan.answer === null && prompt.length > 1 && prompt.at(-1)?.role === "assistant"
  const answered = isWhole ? popped(prompt) : answerOf(plan.ofDataset ? rowAnswer(recorded) : recorded, plan.answer)
  if (corrected === null && answered === null) {
    throw new Drop("no_answer", `${plan.answer?.join(".") ?? "its output"} holds no answer`)
  }
  if (corrected === null && answered?.isOneOfSeveral === true && plan.answer === null) {
    throw new Drop(
      "several_answers",
      "it has several choices; name one with mapping.answer, such as output.choices.0.message",
    )
  }
  const answer = corrected ?? (answered as Answered).message
  const isCorrected = corrected !== null
  return { messages: prompt, tools: toolsOf(recorded, plan.tools), answer, answered, isCorrected, pair: null }
}

const rowAnswers = [
  "answer",
  "expected",
  "expected_output",
  "expected_answer",
  "output",
  "completion",
  "response",
  "target",
  "label",
]

/** A row has no output of its own. */
function rowAnswer({ inputs, attributes }: Recorded): Recorded {
  return { inputs, attributes, output: isJsonObject(inputs) ? firstOf(inputs, rowAnswers) : null }
}

/** Off the end of a dialogue that is written down whole. */
function popped(prompt: Message[]): Answered | null {
  const message = prompt.pop()
  return message === undefined ? null : { message, choice: null, isOneOfSeveral: false }
}

function keysOf(inputs: unknown): string {
  if (!isJsonObject(inputs)) return JSON.stringify(inputs)?.slice(0, 60) ?? "none"
  const keys = Object.keys(inputs).slice(0, 8)
  return keys.length === 0 ? "empty" : keys.join(", ")
}

function correctionOf(plan: RowPlan, fields: Fields): Message | null {
  for (const place of plan.corrections) {
    const message = messageIn(fields.text(place))
    if (message !== null) return message
  }
  return null
}

/** A text, or a message or dialogue in JSON. */
function messageIn(text: string | null): Message | null {
  if (text === null || text.trim() === "") return null
  const given = unpacked(text)
  return isJsonObject(given) || Array.isArray(given) ? lastAnswer(given) : lastAnswer(text)
}

type Text = Omit<Made, "id" | "rowDigest" | "rolloutId" | "feedbackIds">

/** @throws {Drop} */
function rowText(recorded: Recorded, plan: RowPlan, fields: Fields, chat: Chat): Text {
  const { messages, tools, answer, isCorrected, answered, pair } = chat
  const score = scoreOf(plan, fields, isCorrected)
  // Answers with other tools were given to another prompt.
  const question = JSON.stringify(plan.kind === "dpo" ? [messages, tools] : messages)
  const group = groupOf(plan, fields, recorded, question)
  const answerBytes = Buffer.byteLength(JSON.stringify(answer))
  const shared = { messages, answer, isCorrected, score, group, pair, answerBytes }
  // Which of two answers was counted is not known.
  const usage = isCorrected || pair !== null ? null : usageOf(recorded.output)
  if (plan.kind !== "rl") {
    const text = `{"messages":${JSON.stringify([...messages, answer])}${tools === null ? "" : `,"tools":${JSON.stringify(tools)}`}}`
    return { ...shared, text, same: digestOf(text), usage, tokens: null }
  }
  const tokens = recordedTokens(recorded, answered?.choice ?? null)
  const { finishReason, ledgerKey, model, own } = tokens
  const sampled = own === null ? `"token_ids":null,"prompt_token_ids":null,"logprobs":null` : own.json
  const items = [
    ...messages.map((message) => `{"message":${JSON.stringify(message)}}`),
    `{"choice":{"message":${JSON.stringify(answer)},"finish_reason":${JSON.stringify(finishReason)},${sampled},"ledger_key":null,"ledger":null}}`,
  ]
  const text = `{"reward":${JSON.stringify(score)},"histories":[{"tools":${JSON.stringify(tools)},"items":[${items.join(",")}]}]}`
  const same = ledgerKey ?? digestOf(text)
  return { ...shared, text, same, usage, tokens: { ledgerKey, model, own: own === null ? null : { ...own, json: "" } } }
}

/** A correction says itself what is right, whatever the answer in its place was worth. */
function scoreOf(plan: RowPlan, fields: Fields, isCorrected: boolean): number | null {
  if (isCorrected) return null
  const score = fields.score(plan.score)
  if (plan.minScore === null || score === null || score >= plan.minScore) return score
  throw new Drop("low_score", `its score is ${score}, less than ${plan.minScore}`)
}

function groupOf({ group }: RowPlan, fields: Fields, { inputs }: Recorded, question: string): string | null {
  if (group === null) return null
  if (group === "question") return digestOf(question)
  if (group === "input") return digestOf(JSON.stringify(inputs) ?? "")
  const text = fields.text(group)
  if (text === null) throw new Drop("no_group", `${group.name} has no value`)
  return text
}

const digestOf = (text: string) => hash("sha256", text, "base64url").slice(0, 22)

/** Token counts by the model's server. */
function usageOf(output: unknown): MappedRow["usage"] {
  const usage = isJsonObject(output) ? output["usage"] : null
  if (!isJsonObject(usage)) return null
  const prompt = usage["prompt_tokens"] ?? usage["input_tokens"]
  const completion = usage["completion_tokens"] ?? usage["output_tokens"]
  return typeof prompt === "number" && typeof completion === "number" ? { prompt, completion } : null
}
