/** Usage of calls with that of their descendants: evaluation-store-calls 4.1. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { retentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import { readCallUsage, readTraceIds } from "../../storage/traces/calls/usage/call-usage.ts"
import { operationsIn } from "../../storage/traces/agents/span-operations.ts"
import { selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import type { CallsFilter } from "../../wire/calls/call-read.ts"
import type { Query } from "../../wire/queries/query.ts"
import type { AggregatedUsage, callsUsageBody, traceUsageBody, UsageAnswer } from "../../wire/calls/usage.ts"
import type { CallDependencies } from "../dependencies.ts"
import { openPriceBook, type PriceBook, totalCosts } from "../costs/prices.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { addUsage, childrenFirst, type ModelUsage, ownUsage, reportedUsage } from "./own-usage.ts"
import type { TokenUsage } from "./token-usage.ts"

const defaultLimit = 10_000

/** By model. */
type UsageOfCall = Map<string, AggregatedUsage>

interface UsageOfCalls {
  /** By call. */
  usage: Map<string, UsageOfCall>
  unfinished: string[]
}

const noUsage: UsageOfCalls = { usage: new Map(), unfinished: [] }

/** Usage of the matching calls, rolled up among themselves. */
export async function traceUsage(
  dependencies: CallDependencies,
  principal: Principal,
  body: z.output<typeof traceUsageBody>,
): Promise<UsageAnswer> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const kept = await retentionDays(dependencies.database, project.id)
  const selection = selectionOf(project, kept, body.filter ?? {}, body.query ?? null)
  const { usage, unfinished } = await usageOf(dependencies, project, selection, body)
  return toAnswer(usage, unfinished)
}

/** Usage of the named calls, rolled up over their whole traces. */
export async function callsUsage(
  dependencies: CallDependencies,
  principal: Principal,
  body: z.output<typeof callsUsageBody>,
): Promise<UsageAnswer> {
  const { traces } = dependencies
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const roots = selectionOf(project, null, { call_ids: body.call_ids }, null)
  const traceIds = body.call_ids.length === 0 ? [] : await readTraceIds(traces, roots)
  const { usage, unfinished } =
    traceIds.length === 0
      ? noUsage
      : await usageOf(dependencies, project, selectionOf(project, null, { trace_ids: traceIds }, null), body)
  return toAnswer(new Map(body.call_ids.map((id) => [id, usage.get(id) ?? new Map()])), unfinished)
}

/** `kept`: see `CallsQuery.retentionDays`; without a query nothing asks for it. */
function selectionOf(project: ProjectAccess, kept: number | null, filter: CallsFilter, query: Query | null) {
  const calls = { projectId: project.id, projectName: project.name, filter, query }
  return selectCalls({ ...calls, retentionDays: kept, sortBy: null })
}

async function usageOf(
  dependencies: CallDependencies,
  project: ProjectAccess,
  selection: ReturnType<typeof selectionOf>,
  { limit, include_costs, rollup }: Pick<z.output<typeof traceUsageBody>, "limit" | "include_costs" | "rollup">,
): Promise<UsageOfCalls> {
  const rows = await readCallUsage(dependencies.traces, selection, limit ?? defaultLimit)
  const reported = reportedUsage(rows)
  const counted =
    rollup === "sum" ? reported : ownUsage(rows, reported, await operationsIn(dependencies.traces, project.id, rows))
  const names = [...reported.values()].flatMap((models) => [...models.keys()])
  const prices = include_costs === true ? await openPriceBook(dependencies, project, names) : null
  const usage = new Map(
    rows.map((row) => [row.id, priced(counted.get(row.id) ?? new Map(), row.started_at, prices)] as const),
  )
  for (const { call, parent } of childrenFirst(rows)) {
    if (parent !== null) addUsage(usage.get(parent) ?? new Map(), usage.get(call.id) ?? new Map())
  }
  return { usage, unfinished: rows.filter((row) => row.is_running).map((row) => row.id) }
}

function toAnswer(usage: UsageOfCalls["usage"], unfinished: readonly string[]): UsageAnswer {
  return {
    call_usage: Object.fromEntries([...usage].map(([id, models]) => [id, Object.fromEntries(models)])),
    unfinished_call_ids: unfinished.toSorted(),
  }
}

function priced(models: ModelUsage, startedAt: string, prices: PriceBook | null): UsageOfCall {
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
