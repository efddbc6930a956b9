/** `/calls/facets`: evaluation-store-calls 3.11. */
import type { ProjectAccess } from "../../access/project-access.ts"
import type { Principal } from "../../http/principal.ts"
import {
  countValues,
  type FacetField,
  facetFields,
  sortTimeBefore,
  type SortTimeRange,
} from "../../storage/traces/calls/call-facets.ts"
import type { CallFacetsAnswer, CallFacetsRequest } from "../../wire/calls/call-facets.ts"
import type { CallDependencies } from "../dependencies.ts"
import { selectionOf } from "./call-query.ts"

const defaultLimit = 20
/** Rows of the first reading, which is made however little time there is. */
const firstRows = 10_000
/** One reading is at most so many times the one before: how long it takes is told by that. */
const growth = 8

/** From the newest calls back, in readings that grow, until the time is up; without a budget all at once. */
export async function callFacets(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  request: CallFacetsRequest,
): Promise<CallFacetsAnswer> {
  const { traces } = dependencies
  const selection = await selectionOf(dependencies, principal, project, { ...request, sort_by: [] })
  const { projectId, retentionDays } = selection
  const scope = { projectId, projectName: project.name, retentionDays, expansions: [] }
  const requested = facetFields(request.facets, request.time_unit ?? "hour", scope)
  const counts = requested.fields.map(() => new Map<string | null, number>())
  let counted = 0
  const read = async (range: SortTimeRange) => {
    const { calls, values } = await countValues(traces, selection, requested, range)
    counted += calls
    for (const { facet, value, count } of values) {
      counts[facet]?.set(value, (counts[facet].get(value) ?? 0) + count)
    }
  }
  const from =
    request.budget_ms == null
      ? await read({ from: null, to: null }).then(() => null)
      : await readBack(read, request.budget_ms, (to, rows) => sortTimeBefore(traces, project.id, to, rows))
  return {
    facets: requested.fields.map((field, index) =>
      facetAnswer(field, counts[index] ?? new Map(), request.limit ?? defaultLimit),
    ),
    counted,
    counted_from: from === null ? null : new Date(from).toISOString(),
  }
}

/** The time that was come to; null: everything was read. */
async function readBack(
  read: (range: SortTimeRange) => Promise<void>,
  budgetMs: number,
  before: (to: number | null, rows: number) => Promise<number | null>,
): Promise<number | null> {
  const began = performance.now()
  let to: number | null = null
  let rows = firstRows
  for (;;) {
    const started = performance.now()
    const from = await before(to, rows)
    await read({ from, to })
    if (from === null) return null
    to = from
    const now = performance.now()
    const left = budgetMs - (now - began)
    if (left <= 0) return from
    const rate = rows / Math.max(1, now - started)
    rows = Math.min(rows * growth, Math.floor(rate * left))
    // Less would cost more to ask for than it tells.
    if (rows < firstRows / 2) return from
  }
}

function facetAnswer({ path, isTime }: FacetField, counts: ReadonlyMap<string | null, number>, limit: number) {
  const values = [...counts].map(([value, count]) => ({ value, count }))
  const order = isTime ? "desc" : "asc"
  values.sort((a, b) => (isTime ? 0 : b.count - a.count) || compare(a.value, b.value, order))
  return { field: path, values: values.slice(0, limit), has_more: values.length > limit }
}

/** Missing values come last either way. */
function compare(a: string | null, b: string | null, order: "asc" | "desc"): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b === (order === "asc") ? -1 : 1
}
