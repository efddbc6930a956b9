/** What a rule scores calls with, ready to be used: a function of this server, a judge, published scorers. */
import type { Log } from "../../log.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { derivedId } from "../../calls/write/derived-id.ts"
import type { ClaimedRule } from "../../storage/catalog/evaluations/scoring-items.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { UnusableAnswer } from "../execution/paid-answer.ts"
import { readScorers, score } from "../execution/scorer.ts"
import { scoreByFunction } from "./function-scorers.ts"
import { judge } from "./judge.ts"
import type { RuleDefinition } from "./rule-definition.ts"
import { checkScoreSize, computed, failedOutcome, type ScoreOutcome } from "./score-outcome.ts"

export interface PreparedScorer {
  /** Of the feedback's type. */
  name: string
  /** Tells it from the rule's others in the ids of scores: its name, or for a second one of that name, its ref. */
  key: string
  /** The `runnable_ref` of its feedback. */
  ref: string
  asksModel: boolean
  /** One for each row, in order; never throws but when the turn is stopped. */
  score: (rows: readonly CallRow[], signal: AbortSignal) => Promise<ScoreOutcome[]>
}

export interface ScorerOwner {
  rule: ClaimedRule
  definition: RuleDefinition
  principal: Principal
  project: ProjectAccess
  log: Log
}

/** However long a model may take. */
const longestAnswerMs = 120_000

/** @throws {HeddleError} below 500: a scorer cannot be used. */
export async function prepareScorers(
  dependencies: ExecutionDependencies,
  owner: ScorerOwner,
): Promise<PreparedScorer[]> {
  const { rule, definition, principal, project, log } = owner
  const { scorer } = definition
  const own = { name: rule.name, key: rule.name, ref: rule.ruleRef }
  if (scorer.kind === "judge") {
    const ask = (row: CallRow, signal: AbortSignal) => {
      const requestId = derivedId(rule.id, row.id)
      return judge(dependencies, principal, project, { requestId, scorer, row }, signal)
    }
    return [{ ...own, asksModel: true, score: (rows, signal) => askEach(rows, signal, log, ask) }]
  }
  if (scorer.kind !== "published") {
    const work = async (rows: readonly CallRow[]) => (await scoreByFunction(dependencies, scorer, rows)).map(computed)
    return [{ ...own, asksModel: false, score: work }]
  }
  const all = await readScorers(dependencies, principal, scorer.scorer_refs)
  return all.map((published, place) => {
    const isFirst = all.findIndex(({ name }) => name === published.name) === place
    const key = isFirst ? published.name : published.ref
    const ask = (row: CallRow, signal: AbortSignal) => {
      const requestId = derivedId(rule.id, row.id, key)
      const thing = { requestId, inputs: inputsOf(row), output: parseExact(row.output ?? "null") }
      return score(dependencies, principal, project, published, thing, signal)
    }
    return {
      name: published.name,
      key,
      ref: published.pinnedRef,
      asksModel: true,
      score: (rows, signal) => askEach(rows, signal, log, ask),
    }
  })
}

/** But for the object whose method it is, and an input that is named as the output. */
function inputsOf({ inputs }: CallRow): Record<string, unknown> {
  const given = parseExact(inputs ?? "{}")
  const { self: _self, this: _this, output: _output, ...rest } = isJsonObject(given) ? given : {}
  return rest
}

/** Throws {@link UnusableAnswer} for an answer that was paid for all the same. */
type Ask = (row: CallRow, signal: AbortSignal) => Promise<{ usage: string | null; output: string }>

async function askEach(rows: readonly CallRow[], signal: AbortSignal, log: Log, ask: Ask): Promise<ScoreOutcome[]> {
  return Promise.all(rows.map((row) => askOnce(row, signal, log, ask)))
}

async function askOnce(row: CallRow, signal: AbortSignal, log: Log, ask: Ask): Promise<ScoreOutcome> {
  let used = { judgeCalls: 0, tokens: 0 }
  try {
    const { usage, output } = await ask(row, AbortSignal.any([signal, AbortSignal.timeout(longestAnswerMs)]))
    used = paid(usage)
    checkScoreSize(output)
    return { ...used, output }
  } catch (error) {
    if (error instanceof UnusableAnswer) used = paid(error.usage)
    // What was paid is told also of a turn that was stopped.
    if (used.judgeCalls === 0) signal.throwIfAborted()
    return failedOutcome(error, log, used)
  }
}

const paid = (usage: string | null) => ({ judgeCalls: 1, tokens: tokensIn(usage) })

function tokensIn(usage: string | null): number {
  const value = tryParse(usage ?? "null")
  const total = isJsonObject(value) ? value["total_tokens"] : undefined
  return typeof total === "number" && total >= 0 ? Math.round(total) : 0
}
