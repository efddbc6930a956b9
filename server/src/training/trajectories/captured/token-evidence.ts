/** Tokens in a captured answer: ids, log-probabilities, and whether they agree (art-0.5.23 4.2). */
import type { z } from "zod"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { logprobValues, tokenIds } from "../../../wire/training/token-arrays.ts"
import { ExchangeFault, type FaultPath } from "./exchange-fault.ts"

export type Loose = Record<string, unknown>

/** One sampling run; null: the answer does not hold it. */
export interface Tokens {
  prompt_token_ids: number[] | null
  token_ids: number[] | null
  logprobs: (number | null)[] | null
}

const tokenIdString = /^token_id:(\d{1,15})$/
const logprobsModes: readonly unknown[] = [null, undefined, "raw_logprobs", "processed_logprobs"]

/** null for a list that is absent or empty: neither says what was sampled. */
export function idsAt(value: unknown, path: FaultPath): number[] | null {
  const ids = checked(tokenIds, value, path)
  return ids === null || ids.length === 0 ? null : ids
}

export function logprobsAt(value: unknown, path: FaultPath): (number | null)[] | null {
  return checked(logprobValues, value, path)
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: FaultPath): NonNullable<T> | null {
  const result = schema.safeParse(value)
  if (result.success) return result.data ?? null
  const [issue] = result.error.issues
  throw new ExchangeFault([...path, ...((issue?.path ?? []) as FaultPath)], issue?.message ?? "not valid")
}

/** The objects of a list; null when it is absent. */
export function objectsAt(value: unknown, path: FaultPath): Loose[] | null {
  if (value === null || value === undefined) return null
  if (!Array.isArray(value)) throw new ExchangeFault(path, "expected an array")
  const wrong = value.findIndex((entry) => !isJsonObject(entry))
  if (wrong !== -1) throw new ExchangeFault([...path, wrong], "expected an object")
  return value as Loose[]
}

/** Ids of `token_id:N` strings; null unless all are such. */
export function spelledIds(tokens: readonly unknown[] | null): number[] | null {
  if (tokens === null || tokens.length === 0) return null
  const ids = tokens.map((token) => (typeof token === "string" ? tokenIdString.exec(token)?.[1] : undefined))
  return ids.every((id) => id !== undefined) ? ids.map(Number) : null
}

/** The ids that are given, once or twice. @throws {ExchangeFault} when they differ. */
export function agreed(given: number[] | null, spelled: number[] | null, path: FaultPath): number[] | null {
  if (given === null || spelled === null) return given ?? spelled
  const length = Math.max(given.length, spelled.length)
  for (let place = 0; place < length; place++) {
    if (given[place] === spelled[place]) continue
    throw new ExchangeFault(
      path,
      `token_ids and the token_id strings of the log-probabilities disagree at token ${place} ` +
        `(${given[place] ?? "none"} and ${spelled[place] ?? "none"}); send the answer as the server gave it`,
    )
  }
  return given
}

/** @throws {ExchangeFault} when there is not one log-probability for each id. */
export function requireOneEach(ids: number[] | null, logprobs: unknown[] | null, path: FaultPath): void {
  if (ids === null || logprobs === null || ids.length === logprobs.length) return
  throw new ExchangeFault(
    path,
    `${ids.length} token ids but ${logprobs.length} log-probabilities; send the answer as the server gave it, ` +
      "where both cover every sampled token",
  )
}

/** @throws {ExchangeFault} for a kind of log-probabilities that training does not know. */
export function requireKnownMode(holder: Loose, path: FaultPath): void {
  const mode = holder["logprobs_mode"]
  if (logprobsModes.includes(mode)) return
  const message = `${JSON.stringify(mode).slice(0, 60)} cannot be trained with; raw_logprobs and processed_logprobs can`
  throw new ExchangeFault([...path, "logprobs_mode"], message)
}
