/** `summary` of evaluation results: statistics of each evaluation over all its trials (evaluation-store-objects 7). */
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { countResultRows, findResultRows } from "../../storage/traces/evaluations/result-rows.ts"
import { readPredictUsage, readTrialUsage, type TrialUsage } from "../../storage/traces/evaluations/trial-children.ts"
import { readScoresOf, readTrialScores, type TrialScores } from "../../storage/traces/evaluations/trial-scores.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { TrialScope } from "../../storage/traces/evaluations/trials.ts"
import type { EvalResultsSummary, EvaluationSummary } from "../../wire/evaluations/eval-results.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { failuresOf, stringAt } from "../runs/run-calls.ts"
import { evaluationOf } from "../runs/runs.ts"
import { ScoreStatistics } from "../runs/score-statistics.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { type TokenUsage, usageByModel } from "../../calls/usage/token-usage.ts"
import { openUsageCosts } from "./usage-costs.ts"

export interface SummaryRequest {
  scope: TrialScope
  /** Root calls, in the order asked for. */
  roots: readonly CallRow[]
  /** Only over rows that every evaluation has. */
  inAll: boolean
  withChildren: boolean
  withCosts: boolean
}

export async function summarizeResults(
  dependencies: CallDependencies,
  project: ProjectAccess,
  request: SummaryRequest,
): Promise<EvalResultsSummary> {
  const { scope, roots, inAll } = request
  const { traces } = dependencies
  const chosen = inAll ? await sharedRows(traces, scope) : allRows(traces, scope)
  const [counts, usage, row_count] = await Promise.all([
    countTrials(chosen.scores),
    usageTotals(dependencies, project, request),
    chosen.count(),
  ])
  const evaluations = roots.map((root): EvaluationSummary => {
    const count = counts.get(root.id)
    const failures = failuresOf(root)
    return {
      evaluation_call_id: root.id,
      trial_count: count?.trials ?? 0,
      scorer_stats: count?.statistics.stats() ?? [],
      predict_total_tokens: usage.get(root.id)?.tokens ?? null,
      predict_total_cost: usage.get(root.id)?.cost ?? null,
      evaluation_ref: evaluationOf(root),
      model_ref: stringAt(root.inputs, "model"),
      display_name: root.display_name ?? null,
      trace_id: root.trace_id,
      started_at: root.started_at,
      ...(failures === null ? {} : { failures }),
    }
  })
  return { row_count, evaluations }
}

interface ChosenRows {
  count: () => Promise<number>
  scores: AsyncGenerator<TrialScores[]>
}

function allRows(traces: TraceStore, scope: TrialScope): ChosenRows {
  return { count: () => countResultRows(traces, scope), scores: readTrialScores(traces, scope) }
}

/** Rows that every evaluation has. */
async function sharedRows(traces: TraceStore, scope: TrialScope): Promise<ChosenRows> {
  const { rows, total } = await findResultRows(traces, {
    scope,
    inAll: true,
    filters: [],
    join: "and",
    sortBy: [],
    datasetProjects: [],
    limit: null,
    offset: 0,
  })
  const trialIds = rows.flatMap(({ trials }) => trials)
  return { count: () => Promise.resolve(total), scores: readScoresOf(traces, scope.projectId, trialIds) }
}

interface TrialCount {
  trials: number
  statistics: ScoreStatistics
}

/** By evaluation. */
async function countTrials(batches: AsyncGenerator<TrialScores[]>): Promise<Map<string, TrialCount>> {
  const counts = new Map<string, TrialCount>()
  for await (const trials of batches) {
    for (const { evaluation, scores } of trials) {
      const count = counts.get(evaluation) ?? { trials: 0, statistics: new ScoreStatistics() }
      counts.set(evaluation, count)
      count.trials++
      if (scores?.startsWith("{") === true) count.statistics.add(JSON.parse(scores))
    }
  }
  return counts
}

interface UsageTotal {
  tokens: number
  /** null: nothing had a price, or none was asked for. */
  cost: number | null
}

/** By evaluation; those without any usage are left out. */
async function usageTotals(
  dependencies: CallDependencies,
  project: ProjectAccess,
  { scope, inAll, withChildren, withCosts }: SummaryRequest,
): Promise<Map<string, UsageTotal>> {
  const ofModels = () => readPredictUsage(dependencies.traces, scope, inAll).then(parsed)
  const predicted = withChildren || withCosts ? await ofModels() : []
  const counted = withChildren ? predicted : parsed(await readTrialUsage(dependencies.traces, scope, inAll))
  const costs = withCosts
    ? await openUsageCosts(
        dependencies,
        project,
        predicted.map(({ models }) => models),
      )
    : null
  const totals = new Map<string, UsageTotal>()
  const totalOf = (evaluation: string) => {
    const total = totals.get(evaluation) ?? { tokens: 0, cost: null }
    totals.set(evaluation, total)
    return total
  }
  for (const { evaluation, models } of counted) {
    const total = totalOf(evaluation)
    for (const { total_tokens } of models.values()) total.tokens += total_tokens
  }
  for (const { evaluation, models, started_at } of costs === null ? [] : predicted) {
    const cost = costs?.(models, started_at) ?? null
    if (cost !== null) totalOf(evaluation).cost = (totalOf(evaluation).cost ?? 0) + cost
  }
  return totals
}

type ModelUsage = Omit<TrialUsage, "usage"> & { models: Map<string, TokenUsage> }

function parsed(rows: readonly TrialUsage[]): ModelUsage[] {
  return rows
    .map(({ evaluation, started_at, usage }) => ({ evaluation, started_at, models: usageByModel(parseObject(usage)) }))
    .filter(({ models }) => models.size > 0)
}

function parseObject(text: string): unknown {
  return text.startsWith("{") ? JSON.parse(text) : null
}
