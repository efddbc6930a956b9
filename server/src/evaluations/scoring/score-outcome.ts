/** What became of scoring a call once. */
import { HeddleError } from "../../errors.ts"
import type { Log } from "../../log.ts"
import { failureText, ModelFailure } from "../../gateway/providers/model-failure.ts"
import { checkPayloadSize } from "../../labelling/feedback/payload-size.ts"

/** `output`: JSON text. `isPassing`: to try again later may help. */
export type ScoreOutcome = { judgeCalls: number; tokens: number } & (
  | { output: string }
  | { failure: string; isPassing: boolean }
)

const nothingUsed = { judgeCalls: 0, tokens: 0 }

/** Of a scorer that asks nobody. */
export function computed(result: { output: string } | { failure: string }): ScoreOutcome {
  return "output" in result ? { ...nothingUsed, ...result } : { ...nothingUsed, ...result, isPassing: false }
}

export function failedOutcome(error: unknown, log: Log, used = nothingUsed): ScoreOutcome {
  return { ...used, ...failureOf(error, log) }
}

function failureOf(error: unknown, log: Log): { failure: string; isPassing: boolean } {
  if (error instanceof ModelFailure)
    return { failure: error.message, isPassing: error.busy !== null || !error.hasAnswered }
  if (error instanceof HeddleError)
    return { failure: error.message, isPassing: error.status >= 500 || error.status === 429 }
  if (error instanceof Error && error.name === "TimeoutError")
    return { failure: "the judge did not answer in time", isPassing: true }
  log.error({ err: error }, "a call could not be scored")
  return { failure: failureText(error), isPassing: true }
}

export const scorePayload = (output: string) => `{"output":${output}}`

/** @throws {HeddleError} `payload_too_large` */
export function checkScoreSize(output: string): void {
  checkPayloadSize(scorePayload(output))
}
