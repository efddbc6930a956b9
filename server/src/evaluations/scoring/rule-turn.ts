/**
 * One turn of a rule: some of the calls that wait for it are scored, and what became of them is stored. A score is
 * feedback under an id made of rule, call and scorer, and is looked for first, so that a turn which a kill cut off asks
 * no judge again for what is stored.
 */
import { HeddleError } from "../../errors.ts"
import { derivedId } from "../../calls/write/derived-id.ts"
import { createFeedback } from "../../labelling/feedback/feedback-create.ts"
import type { NewFeedback } from "../../labelling/feedback/feedback-task.ts"
import { formatRef } from "../../objects/refs/refs.ts"
import {
  type ClaimedRule,
  type DueItem,
  dueItems,
  type WorkedItems,
} from "../../storage/catalog/evaluations/scoring-items.ts"
import { type CallRow, readCallPieces } from "../../storage/traces/calls/call-row-reads.ts"
import { findFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { forEachParallel } from "../execution/jobs/parallel.ts"
import { scoredColumns } from "./field-value.ts"
import type { RuleDefinition } from "./rule-definition.ts"
import { type PreparedScorer, prepareScorers, type ScorerOwner } from "./rule-scorers.ts"
import { failedOutcome, scorePayload, type ScoreOutcome } from "./score-outcome.ts"
import { TurnTally } from "./turn-tally.ts"

export interface RuleTurn extends ScorerOwner {
  /** The server stops, the lease was lost, or the rule was deleted, paused or stopped. */
  signal: AbortSignal
}

/** Few enough that a turn with a slow judge ends, and others have theirs. */
const judgedAtOnce = 16
const functionsAtOnce = 256
/** Of a rule whose budget is spent, to be taken out of the queue. */
const leftOutAtOnce = 5_000

/** @throws {HeddleError} below 500: the rule itself cannot work. */
export async function takeTurn(dependencies: ExecutionDependencies, turn: RuleTurn): Promise<WorkedItems> {
  const { rule, definition } = turn
  const scorers = await prepareScorers(dependencies, turn)
  const judges = scorers.filter(({ asksModel }) => asksModel).length
  const allowed = judges === 0 ? Number.POSITIVE_INFINITY : Math.floor(callsLeft(rule, definition) / judges)
  const items = await dueItems(dependencies.database, rule.id, itemsAtOnce(judges, allowed))
  const stored = await storedScores(dependencies, rule, scorers, items)
  const tally = new TurnTally(dependencies.limits)
  const left: DueItem[] = []
  for (const item of items) {
    if (scorers.every((scorer) => stored.has(scoreId(rule, item.callId, scorer)))) tally.scored(item.callId)
    else if (left.length < allowed) left.push(item)
    else tally.leftOut(item.callId)
  }
  await scoreItems(dependencies, turn, { scorers, items: left, stored, tally })
  return tally.items
}

function itemsAtOnce(judges: number, allowed: number): number {
  if (judges === 0) return functionsAtOnce
  return allowed === 0 ? leftOutAtOnce : judgedAtOnce
}

/** Judge calls that the day's budget has left; what is asked at the same time may go over that of tokens by its answers. */
function callsLeft({ usedJudgeCalls, usedTokens }: ClaimedRule, { budget }: RuleDefinition): number {
  if (budget.tokens !== null && usedTokens >= budget.tokens) return 0
  if (budget.judgeCalls === null) return Number.POSITIVE_INFINITY
  return Math.max(0, budget.judgeCalls - usedJudgeCalls)
}

const scoreId = (rule: ClaimedRule, callId: string, { key }: PreparedScorer) => derivedId(rule.id, callId, key)

async function storedScores(
  { traces }: ExecutionDependencies,
  rule: ClaimedRule,
  scorers: readonly PreparedScorer[],
  items: readonly DueItem[],
): Promise<Set<string>> {
  const ids = items.flatMap(({ callId }) => scorers.map((scorer) => scoreId(rule, callId, scorer)))
  return new Set((await findFeedback(traces, rule.projectId, ids)).map(({ id }) => id))
}

interface Work {
  scorers: readonly PreparedScorer[]
  items: readonly DueItem[]
  /** Ids of scores that are there. */
  stored: ReadonlySet<string>
  tally: TurnTally
}

/** Some at a time where the calls are large: all of them would take gigabytes. */
async function scoreItems(dependencies: ExecutionDependencies, turn: RuleTurn, work: Work): Promise<void> {
  const { items, scorers, tally } = work
  const scoreThese = scorers.some(({ asksModel }) => asksModel) ? judgeEach : computeEach
  const missing = new Set(items.map(({ callId }) => callId))
  for await (const rows of readCallPieces(dependencies.traces, turn.rule.projectId, [...missing], scoredColumns)) {
    const byId = new Map(rows.map((row) => [row.id, row]))
    await scoreThese(dependencies, turn, { ...work, items: items.filter(({ callId }) => byId.has(callId)) }, byId)
    for (const id of byId.keys()) missing.delete(id)
  }
  for (const callId of missing) tally.gone(callId)
}

async function computeEach(
  dependencies: ExecutionDependencies,
  turn: RuleTurn,
  { items, scorers, tally }: Work,
  byId: ReadonlyMap<string, CallRow>,
): Promise<void> {
  const rows = [...byId.values()]
  const scored: ScoredCall[] = []
  for (const scorer of scorers) {
    const outcomes = await scorer.score(rows, turn.signal)
    rows.forEach((row, at) => scored.push({ row, scorer, outcome: outcomes[at] as ScoreOutcome }))
  }
  await storeScores(dependencies, turn, scored)
  const ofCalls = Map.groupBy(scored, ({ row }) => row.id)
  for (const item of items)
    tally.ended(
      item,
      (ofCalls.get(item.callId) ?? []).map(({ outcome }) => outcome),
    )
}

/** Each score is stored when it comes: it was paid for. What is not asked when the turn is stopped waits for another one. */
async function judgeEach(
  dependencies: ExecutionDependencies,
  turn: RuleTurn,
  { items, scorers, stored, tally }: Work,
  rows: ReadonlyMap<string, CallRow>,
): Promise<void> {
  const { rule, signal } = turn
  await forEachParallel(items, signal, async (item) => {
    const row = rows.get(item.callId) as CallRow
    const outcomes: ScoreOutcome[] = []
    for (const scorer of scorers) {
      if (stored.has(scoreId(rule, row.id, scorer))) continue
      const [outcome] = await scorer.score([row], signal)
      const scored: ScoredCall = { row, scorer, outcome: outcome as ScoreOutcome }
      tally.used(scored.outcome)
      await storeScores(dependencies, turn, [scored])
      outcomes.push(scored.outcome)
    }
    tally.ended(item, outcomes)
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

interface ScoredCall {
  row: CallRow
  scorer: PreparedScorer
  outcome: ScoreOutcome
}

/** What cannot be stored becomes a failure. */
async function storeScores(
  dependencies: ExecutionDependencies,
  turn: RuleTurn,
  scored: readonly ScoredCall[],
): Promise<void> {
  const stored = scored.flatMap((one) =>
    "output" in one.outcome ? [{ one, feedback: feedbackOf(turn.rule, one, one.outcome.output) }] : [],
  )
  try {
    await createFeedback(
      dependencies,
      turn.principal,
      stored.map(({ feedback }) => feedback),
    )
  } catch (error) {
    // One that is refused must not keep the others from being stored.
    if (stored.length > 1) {
      for (const { one } of stored) await storeScores(dependencies, turn, [one])
      return
    }
    for (const { one } of stored) if (!isStoredAlready(error)) one.outcome = failedOutcome(error, turn.log, one.outcome)
  }
}

/** Another turn, whose lease had run out, has stored a score of the call meanwhile. */
function isStoredAlready(error: unknown): boolean {
  return error instanceof HeddleError && error.code === "conflict"
}

function feedbackOf(rule: ClaimedRule, { row, scorer }: ScoredCall, output: string): NewFeedback {
  const fields = {
    id: scoreId(rule, row.id, scorer),
    project_id: rule.projectName,
    weave_ref: formatRef(rule.projectName, "call", row.id),
    feedback_type: `wandb.runnable.${scorer.name}`,
    runnable_ref: scorer.ref,
    trigger_ref: rule.ruleRef,
  }
  return { fields, payload: scorePayload(output) }
}
