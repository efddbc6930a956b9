/** The part of the table's address that a saved view keeps, as text and as the SDK reads it. */
import type { ViewDefinition } from "../../../api/calls/saved-views.ts"
import { selectionOf } from "../../../calls/filter/filter-query.ts"
import { parseSearch, stringifySearch } from "../../../url/search.ts"
import { sortFieldOf } from "./call-columns.tsx"
import { readFilter } from "./filter-bar.tsx"
import { sortOf, tracesSearch } from "./traces-search.ts"

export type TracesSearch = ReturnType<typeof tracesSearch>

export function viewSearch({ q, from, to, scope, cols, sort }: TracesSearch): TracesSearch {
  return { q, from, to, scope, cols, sort }
}

/** Always with a question mark: a view of everything has an address too. */
export function viewAddress(search: TracesSearch): string {
  const text = stringifySearch(viewSearch(search))
  return text === "" ? "?" : text
}

export function searchOfView(address: string): TracesSearch {
  return viewSearch(tracesSearch(parseSearch(address)))
}

/** What an address comes to. A range of time is left out: what goes back from now has no words in it. */
export function definitionOf(address: string, projectId: string): ViewDefinition {
  const search = searchOfView(address)
  const { clauses } = readFilter(search.q ?? "")
  const { filter, query } = selectionOf(clauses, { projectId, rootsOnly: search.scope !== "all" })
  const { column, direction } = sortOf(search.sort)
  return {
    filter: filter ?? null,
    query: query ?? null,
    sort_by: [{ field: sortFieldOf(column) ?? "started_at", direction }],
    columns: (search.cols ?? []).map((id) => ({ path: id.split("."), label: id })),
  }
}
