/** What the address lists: which calls, and in which order. */
import { useState } from "react"
import { type Scope, selectionOf } from "../../../calls/filter/filter-query.ts"
import type { Sort } from "../../../components/data-table/columns.ts"
import { sortFieldOf } from "./call-columns.tsx"
import { readFilter } from "./filter-bar.tsx"
import { timeRangeOf } from "./time-range.ts"
import { newestFirst, sortOf } from "./traces-search.ts"
import type { TracesSearch } from "./view-address.ts"

/**
 * All of it stays the same until the address changes. The compiler keeps what a hook works out, but of what a component
 * works out it keeps nothing that may change in a hook called later; and where columns are others, all rows are drawn again.
 */
export function useCallList(projectId: string, search: TracesSearch) {
  const { q = "", from = "", to = "", scope: listed, sort: order } = search
  // The list does not move with the clock: what it goes back from is when it was asked for.
  const [openedAt] = useState(() => Date.now())
  const rootsOnly = listed !== "all"
  const range = timeRangeOf(from, to, openedAt)
  const scope: Scope = { projectId, rootsOnly, from: range.from, to: range.to }
  const { clauses, error } = readFilter(q)
  const requested = sortOf(order)
  const sort: Sort = sortFieldOf(requested.column) === null ? newestFirst : requested
  return {
    clauses,
    /** The filter is not understood. */
    error,
    range,
    scope,
    rootsOnly,
    selection: selectionOf(clauses, scope),
    sort,
    sortBy: { field: sortFieldOf(sort.column) ?? "started_at", direction: sort.direction },
    /** Looked for in inputs, outputs and errors. */
    words: clauses.filter(({ field }) => field === null).flatMap(({ values }) => values.map(({ text }) => text)),
  }
}
