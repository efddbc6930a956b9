/** What became of the calls of a turn, to be stored with it. */
import type { DueItem, WorkedItems } from "../../storage/catalog/evaluations/scoring-items.ts"
import type { RuleFailure } from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import type { ScoreOutcome } from "./score-outcome.ts"

type RetryLimits = Pick<ExecutionDependencies["limits"], "scoring_attempts" | "scoring_retry_ms">

const mostErrorCharacters = 500
/** From one pause to the next. */
const pauseGrowth = 4

export class TurnTally {
  readonly #limits: RetryLimits
  readonly #items = {
    done: [] as string[],
    later: [] as { id: string; seconds: number }[],
    errors: [] as RuleFailure[],
    scored: 0,
    failed: 0,
    overBudget: 0,
    judgeCalls: 0,
    tokens: 0,
  }

  constructor(limits: RetryLimits) {
    this.#limits = limits
  }

  get items(): WorkedItems {
    return this.#items
  }

  scored(callId: string): void {
    this.#items.done.push(callId)
    this.#items.scored += 1
  }

  leftOut(callId: string): void {
    this.#items.done.push(callId)
    this.#items.overBudget += 1
  }

  /** The call was deleted before its turn came. */
  gone(callId: string): void {
    this.#items.done.push(callId)
  }

  /** It was paid, whatever becomes of the call. */
  used({ judgeCalls, tokens }: ScoreOutcome): void {
    this.#items.judgeCalls += judgeCalls
    this.#items.tokens += tokens
  }

  /** `outcomes`: of each scorer. */
  ended({ callId, attempts }: DueItem, outcomes: readonly ScoreOutcome[]): void {
    const failures = outcomes.flatMap((outcome) => ("failure" in outcome ? [outcome] : []))
    const [first] = failures
    if (first === undefined) return this.scored(callId)
    const message = first.failure.slice(0, mostErrorCharacters)
    this.#items.errors.push({ at: new Date().toISOString(), call_id: callId, message })
    if (failures.some(({ isPassing }) => isPassing) && attempts + 1 < this.#limits.scoring_attempts) {
      this.#items.later.push({ id: callId, seconds: (this.#limits.scoring_retry_ms * pauseGrowth ** attempts) / 1000 })
      return
    }
    this.#items.done.push(callId)
    this.#items.failed += 1
  }
}
