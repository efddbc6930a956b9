/** Waits for a store on another machine, and goes on when it is back. */
import { isStoreUnavailable } from "../errors.ts"
import { sleepAtMost } from "../work/sleep.ts"

const firstPauseMs = 250
const longestPauseMs = 5_000

/**
 * Retries `work` until every store answers; any other failure is thrown. `work` must be repeatable: nobody
 * knows whether what broke off was stored. Ends with the store's failure when `signal` is given.
 */
export function retryWhileUnavailable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return retryWhile(isStoreUnavailable, signal, work)
}

/** The same for other failures that pass. */
export async function retryWhile<T>(
  passes: (error: unknown) => boolean,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    try {
      return await work()
    } catch (error) {
      if (!passes(error) || signal.aborted) throw error
      await sleepAtMost(pause, signal)
      if (signal.aborted) throw error
    }
  }
}
