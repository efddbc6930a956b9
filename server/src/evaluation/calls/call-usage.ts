/** Usage of calls with that of their descendants: evaluation-store-calls 4.1. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { readCallUsage, readTraceIds, type CallUsageRow } from "../../storage/traces/calls/call-usage.ts"
import { selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import { throwQueryFailure } from "../../storage/traces/query-failure.ts"
import type { CallsFilter } from "../../wire/evaluation/call-read.ts"
import type { Query } from "../../wire/evaluation/query.ts"
import type { AggregatedUsage, callsUsageBody, traceUsageBody, UsageAnswer } from "../../wire/evaluation/usage.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { openPriceBook, type PriceBook, totalCosts } from "../costs/prices.ts"
import { type ProjectAccess, projectForRead } from "../project-access.ts"
import { type TokenUsage, usageByModel } from "./token-usage.ts"

const defaultLimit = 10_000

/** By model. */
type UsageOfCall = Map<string, AggregatedUsage>

interface UsageOfCalls {
  /** By call. */
  usage: Map<string, UsageOfCall>
  unfinished: string[]
}

const noUsage: UsageOfCalls = { usage: new Map(), unfinished: [] }

/** Of the calls that match, rolled up within them. */
export async function traceUsage(
  dependencies: EvaluationDependencies,
  principal: Principal,
  body: z.output<typeof traceUsageBody>,
): Promise<UsageAnswer> {
  const project = await projectForRead(dependencies.database, principal, body.project_id)
  const selection = selectionOf(project, body.filter ?? {}, body.query ?? null)
  const { usage, unfinished } = await usageOf(dependencies, project, selection, body)
  return toAnswer(usage, unfinished)
}

/** Of the named calls, rolled up over the whole traces they are in. */
export async function callsUsage(
  dependencies: EvaluationDependencies,
  principal: Principal,
  body: z.output<typeof callsUsageBody>,
): Promise<UsageAnswer> {
  const { traces } = dependencies
  const project = await projectForRead(dependencies.database, principal, body.project_id)
  const roots = selectionOf(project, { call_ids: body.call_ids }, null)
  const traceIds = body.call_ids.length === 0 ? [] : await readTraceIds(traces, roots).catch(throwQueryFailure)
  const { usage, unfinished } =
    traceIds.length === 0
      ? noUsage
      : await usageOf(dependencies, project, selectionOf(project, { trace_ids: traceIds }, null), body)
  return toAnswer(new Map(body.call_ids.map((id) => [id, usage.get(id) ?? new Map()])), unfinished)
}

function selectionOf(project: ProjectAccess, filter: CallsFilter, query: Query | null) {
  return selectCalls({ projectId: project.id, projectName: project.name, filter, query, sortBy: null })
}

async function usageOf(
  dependencies: EvaluationDependencies,
  project: ProjectAccess,
  selection: ReturnType<typeof selectionOf>,
  { limit, include_costs }: { limit?: number | null | undefined; include_costs?: boolean | null | undefined },
): Promise<UsageOfCalls> {
  const rows = await readCallUsage(dependencies.traces, selection, limit ?? defaultLimit).catch(throwQueryFailure)
  const reported = rows.map((row) => ({ row, models: usageByModel(row.usage === "" ? null : JSON.parse(row.usage)) }))
  const names = reported.flatMap(({ models }) => [...models.keys()])
  const prices =
    include_costs === true ? await openPriceBook(dependencies, project, names).catch(throwQueryFailure) : null
  const own = new Map(reported.map(({ row, models }) => [row.id, ownUsage(models, row.started_at, prices)]))
  rollUp(rows, own)
  return { usage: own, unfinished: rows.filter((row) => row.is_running).map((row) => row.id) }
}

function toAnswer(usage: UsageOfCalls["usage"], unfinished: readonly string[]): UsageAnswer {
  return {
    call_usage: Object.fromEntries([...usage].map(([id, models]) => [id, Object.fromEntries(models)])),
    unfinished_call_ids: unfinished.toSorted(),
  }
}

function ownUsage(models: ReadonlyMap<string, TokenUsage>, startedAt: string, prices: PriceBook | null): UsageOfCall {
  return new Map(
    [...models].map(([model, usage]) => [model, { ...usage, ...costsOf(model, usage, startedAt, prices) }]),
  )
}

function costsOf(model: string, usage: TokenUsage, startedAt: string, prices: PriceBook | null) {
  const price = prices?.find(model, startedAt) ?? null
  if (price !== null) return totalCosts(usage, price)
  const unpriced = prices === null ? null : 0
  return {
    prompt_tokens_total_cost: unpriced,
    completion_tokens_total_cost: unpriced,
    cache_read_input_tokens_total_cost: unpriced,
    cache_creation_input_tokens_total_cost: unpriced,
  }
}

/** Adds each call to its parent, children before parents; calls whose parents go in a circle stay as they are. */
function rollUp(rows: readonly CallUsageRow[], usage: Map<string, UsageOfCall>): void {
  const parents = new Map<string, string>()
  const childrenLeft = new Map<string, number>()
  for (const { id, parent_id } of rows) {
    if (parent_id === null || !usage.has(parent_id)) continue
    parents.set(id, parent_id)
    childrenLeft.set(parent_id, (childrenLeft.get(parent_id) ?? 0) + 1)
  }
  const ready = rows.map((row) => row.id).filter((id) => !childrenLeft.has(id))
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    const parent = parents.get(id)
    if (parent === undefined) continue
    add(usage.get(parent) ?? new Map(), usage.get(id) ?? new Map())
    const left = (childrenLeft.get(parent) ?? 0) - 1
    childrenLeft.set(parent, left)
    if (left === 0) ready.push(parent)
  }
}

function add(target: UsageOfCall, source: UsageOfCall): void {
  for (const [model, usage] of source) {
    const sum = target.get(model)
    target.set(model, sum === undefined ? { ...usage } : sumOf(sum, usage))
  }
}

function sumOf(a: AggregatedUsage, b: AggregatedUsage): AggregatedUsage {
  const names = Object.keys(a) as (keyof AggregatedUsage)[]
  const sums = names.map((name) => {
    const [one, other] = [a[name], b[name]]
    return [name, one === null || other === null ? null : one + other]
  })
  return Object.fromEntries(sums) as AggregatedUsage
}
