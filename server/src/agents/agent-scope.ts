/** Turns a request about spans into a query to storage: evaluation-store-calls 10. */
import { invalid } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { microsecondsOf, isoTimeOf } from "../storage/traces/query/sql-time.ts"
import { spanModels } from "../storage/traces/agents/span-models.ts"
import type { SpanQuery } from "../storage/traces/agents/span-selection.ts"
import type { PriceStep } from "../storage/traces/agents/span-source.ts"
import type { GroupFilter, GroupRef, InsightFilter, SignalFilters } from "../wire/agents/span-values.ts"
import type { Query } from "../wire/queries/query.ts"
import { openPriceBook } from "../calls/costs/prices.ts"
import type { CallDependencies } from "../calls/dependencies.ts"
import { type ProjectAccess, existingProject } from "../access/project-access.ts"
import { moment } from "../objects/requests/stats-range.ts"

export interface Window {
  /** Microseconds since 1970: inclusive, exclusive. */
  after: bigint | null
  before: bigint | null
}

interface WindowBody {
  started_after?: string | null | undefined
  started_before?: string | null | undefined
}

/** @throws {HeddleError} 422 for times that are none. */
export function windowOf({ started_after, started_before }: WindowBody): Window {
  return {
    after: started_after == null ? null : moment("started_after", started_after),
    before: started_before == null ? null : moment("started_before", started_before),
  }
}

interface Filters {
  query?: Query | null | undefined
  signal_filters?: SignalFilters | null | undefined
  insight_filters?: InsightFilter[] | null | undefined
}

export function spanQuery(
  project: ProjectAccess,
  filters: Filters,
  window: Window,
  prices: readonly PriceStep[] | null,
): SpanQuery {
  return {
    projectId: project.id,
    where: filters.query?.$expr ?? null,
    signals: filters.signal_filters ?? null,
    insights: filters.insight_filters ?? [],
    text: null,
    ...window,
    prices,
  }
}

/** When which price holds for the models of the project's spans. */
export async function spanPrices(
  dependencies: CallDependencies,
  project: ProjectAccess,
): Promise<readonly PriceStep[]> {
  const models = await spanModels(dependencies.traces, project.id)
  const book = await openPriceBook(dependencies, project, models)
  const changes = book.changes.toSorted((a, b) => Number(a - b))
  return models.flatMap((model) =>
    changes.flatMap((since) => {
      const price = book.find(model, isoTimeOf(since))
      if (price === null) return []
      return {
        model,
        since,
        prompt: price.prompt_token_cost,
        completion: price.completion_token_cost,
        cacheRead: price.cache_read_input_token_cost,
        cacheCreation: price.cache_creation_input_token_cost,
      }
    }),
  )
}

/** Reads for a request: the project first, and limits that were reached as errors of the list. */
export async function reading<Answer>(
  { database }: CallDependencies,
  principal: Principal,
  projectName: string,
  read: (project: ProjectAccess) => Promise<Answer>,
): Promise<Answer> {
  const project = await existingProject(database, principal, projectName)
  return read(project)
}

/** @throws {HeddleError} 422 for bounds that are none, or the wrong way round. */
export function checkGroupFilters(filters: readonly GroupFilter[]): void {
  for (const [index, { min, max }] of filters.entries()) {
    const loc = ["body", "group_filters", index]
    if (min == null && max == null) throw invalid(loc, "group filter must set min or max")
    for (const [name, bound] of [
      ["min", min],
      ["max", max],
    ] as const) {
      if (typeof bound !== "string" || microsecondsOf(bound) !== null) continue
      throw invalid([...loc, name], `"${bound}" is neither a number nor a time in ISO 8601`)
    }
    if (min == null || max == null) continue
    if (typeof min !== typeof max) throw invalid(loc, "group filter min and max must use the same type")
    if (comparable(max) < comparable(min)) throw invalid(loc, "group filter max must not be less than min")
  }
}

function comparable(bound: number | string): number | bigint {
  return typeof bound === "number" ? bound : (microsecondsOf(bound) ?? 0n)
}

/** Filters of a query must group as it does. @throws {HeddleError} 400. */
export function sameGroups(a: readonly GroupRef[], b: readonly GroupRef[]): boolean {
  const shape = (refs: readonly GroupRef[]) =>
    JSON.stringify(refs.map(({ source, key }) => [source === "column" ? "field" : source, key]))
  return shape(a) === shape(b)
}
