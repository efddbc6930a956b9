/** From the exchanges of a trajectory to what the engine trains: sampling runs in the order they were made (art-0.5.23 4.2). */
import { parseModelName } from "../../../gateway/model-name.ts"
import type { CapturedGeneration, CapturedRollout } from "../../../wire/engine/train.ts"
import { type Exchange, exchangeKinds, type ExchangeKind, type Exchanges } from "../../../wire/training/exchange.ts"
import { chatTokens, completionTokens } from "./choice-tokens.ts"
import { ExchangeFault } from "./exchange-fault.ts"
import { messageTokens, responsesTokens } from "./response-tokens.ts"
import type { Tokens } from "./token-evidence.ts"

/** Names of other models that a message may need. */
const mostOtherModels = 3
const longestName = 1024

/** Calls of models that this server did not train are left out unread: judges, simulated users, base models. */
export function capturedRollout(exchanges: Exchanges): CapturedRollout {
  const others = new Set<string>()
  const calls = inOrder(exchanges).flatMap(({ kind, index, exchange }) => {
    const model = modelOf(exchange)
    if (isTrained(model)) return generationsOf(kind, index, exchange, model)
    if (model !== "" && others.size < mostOtherModels) others.add(model.slice(0, 200))
    return []
  })
  return { generations: calls, other_models: [...others] }
}

interface Call {
  kind: ExchangeKind
  index: number
  exchange: Exchange
}

/** By start, then end; the sort keeps the order of capture where both are the same. */
function inOrder(exchanges: Exchanges): Call[] {
  return exchangeKinds
    .flatMap((kind) => (exchanges[kind] ?? []).map((exchange, index) => ({ kind, index, exchange })))
    .map((call) => ({ call, start: instant(call.exchange.start_time), end: instant(call.exchange.end_time) }))
    .toSorted((a, b) => compare(a.start, b.start) || compare(a.end, b.end))
    .map(({ call }) => call)
}

/** Nanoseconds; `Date` keeps only milliseconds. */
function instant(text: string): bigint {
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? ""
  return BigInt(Date.parse(text.replace(/\.\d+/, ""))) * 1_000_000n + BigInt(fraction.padEnd(9, "0"))
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}

function modelOf({ model, request, response }: Exchange): string {
  const name = [model, request["model"], response["model"]].find((value) => typeof value === "string")
  return typeof name === "string" ? name : ""
}

/** A checkpoint's name, also in the short form, whose place is that of the job's model. */
function isTrained(model: string): boolean {
  return model.length <= longestName && parseModelName(model, { entity: "-", project: "-" }).kind === "checkpoint"
}

function generationsOf(kind: ExchangeKind, index: number, exchange: Exchange, model: string): CapturedGeneration[] {
  try {
    return runsOf(kind, exchange).map(({ truncated, unit, ...tokens }, run) => ({
      model,
      place: unit === null ? `${kind} ${index}` : `${kind} ${index}, ${unit} ${run}`,
      ...tokens,
      truncated,
    }))
  } catch (error) {
    if (error instanceof ExchangeFault) throw new ExchangeFault([kind, index, ...error.path], error.message)
    throw error
  }
}

type Run = Tokens & { truncated: boolean; unit: string | null }

function runsOf(kind: ExchangeKind, { request, response }: Exchange): Run[] {
  if (kind === "messages") {
    return [{ ...messageTokens(response), truncated: response["stop_reason"] === "max_tokens", unit: null }]
  }
  if (kind === "responses") {
    const runs = responsesTokens(response)
    const cut = response["status"] === "incomplete"
    return runs.map((tokens, run) => ({ ...tokens, truncated: cut && run === runs.length - 1, unit: "generation" }))
  }
  const choices = (kind === "completions" ? completionTokens : chatTokens)(request, response)
  return choices.map(({ finish_reason: reason, ...tokens }) => ({
    ...tokens,
    truncated: reason === "length",
    unit: "choice",
  }))
}
