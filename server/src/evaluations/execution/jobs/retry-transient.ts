/** How a job asks models: a few at once, and again where a client would be told to come again. */
import { setTimeout as sleep } from "node:timers/promises"
import { type ErrorCode, HeddleError } from "../../../errors.ts"
import { retryWhileUnavailable } from "../../../storage/retry-while-unavailable.ts"
import { ModelFailure } from "../../../gateway/providers/model-failure.ts"
import type { JobContext } from "./job-runner.ts"

const passing: ReadonlySet<ErrorCode> = new Set([
  "rate_limit_exceeded",
  "engine_unavailable",
  "engine_overloaded",
  "store_overloaded",
])
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000]
/** Whatever a service outside asks for. */
const longestPauseMs = 60_000

/** Retries while the failure is one that passes; the last failure is thrown. */
export async function retryTransient<T>(
  { signal, models }: Pick<JobContext, "signal" | "models">,
  ask: () => Promise<T>,
): Promise<T> {
  // A store that is away is no answer of the model, whatever time it takes.
  const once = () =>
    retryWhileUnavailable(signal, () =>
      models.run(() => {
        signal.throwIfAborted()
        return ask()
      }),
    )
  for (const usualMs of pausesMs) {
    try {
      return await once()
    } catch (error) {
      signal.throwIfAborted()
      const pauseMs = pauseAfter(error, usualMs)
      if (pauseMs === null) throw error
      await sleep(Math.min(pauseMs, longestPauseMs), undefined, { ref: false, signal })
    }
  }
  return once()
}

/** null: to ask again would not help. */
function pauseAfter(error: unknown, usualMs: number): number | null {
  if (error instanceof ModelFailure) return error.busy === null ? null : (error.busy.retryAfterMs ?? usualMs)
  if (!(error instanceof HeddleError) || !passing.has(error.code)) return null
  return error.details.retryAfterMs ?? usualMs
}
