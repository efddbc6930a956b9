/** Work in the background waits where a client would be told to come again. */
import { setTimeout as sleep } from "node:timers/promises"
import { type ErrorCode, HeddleError } from "../../../errors.ts"

const passing: ReadonlySet<ErrorCode> = new Set([
  "rate_limit_exceeded",
  "engine_unavailable",
  "engine_overloaded",
  "store_overloaded",
])
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000]

/** Tries again while the failure is one that passes; the last failure is thrown. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof HeddleError) || !passing.has(error.code)) throw error
      await sleep(error.details.retryAfterMs ?? pauseMs, undefined, { ref: false, signal })
    }
  }
  return work()
}
