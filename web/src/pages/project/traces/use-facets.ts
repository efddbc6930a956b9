/** Counts beside the filter: of each field as if its own boxes were empty, and of the times when calls began. */
import { useCallFacets } from "../../../api/calls/call-facets.ts"
import {
  facetFields,
  filterValues,
  type FacetField,
  type FacetValue,
  withoutFacet,
} from "../../../calls/filter/facet-clauses.ts"
import { type Scope, selectionOf } from "../../../calls/filter/filter-query.ts"
import type { Clause } from "../../../calls/filter/filter-text.ts"
import { mostTimes, started, useTimeCounts } from "./use-time-counts.ts"

const budgetMs = 400
const mostValues = 200
const liveMs = 5_000

export interface Facet extends FacetField {
  /** undefined: not counted yet. */
  values: FacetValue[] | undefined
}

interface Wanted {
  clauses: readonly Clause[]
  scope: Scope
  isLive: boolean
  isEnabled: boolean
  /** However long it takes. */
  isWhole: boolean
}

export function useFacets({ clauses, scope, isLive, isEnabled, isWhole }: Wanted) {
  // Payloads are slow to count, so what columns hold does not wait for them.
  const plain = facetFields.filter(({ field, path }) => !isPayload(path) && !isFiltered(clauses, field))
  const alone = facetFields.filter((field) => !plain.includes(field))
  const countings = [
    { fields: plain.map(({ path }) => path).concat(started), clauses, limit: mostTimes },
    ...alone.map(({ field, path }) => ({ fields: [path], clauses: withoutFacet(clauses, field), limit: mostValues })),
  ]
  const countingOf = (of: readonly Clause[], where = scope) => ({
    project_id: scope.projectId,
    ...selectionOf(of, where),
    ...(isWhole ? {} : { budget_ms: budgetMs }),
  })
  const live = { refetchInterval: isLive ? liveMs : (false as const) }
  const answers = useCallFacets(
    isEnabled ? countings.map(({ fields, clauses: of, limit }) => ({ ...countingOf(of), facets: fields, limit })) : [],
    live,
  )
  const valuesOf = (path: string) => {
    const place = countings.findIndex(({ fields }) => fields.includes(path))
    return answers[place]?.data?.facets.find(({ field }) => field === path)?.values
  }
  const [first] = answers
  const earliest = answers
    .flatMap(({ data }) => data?.counted_from ?? [])
    .toSorted()
    .at(-1)
  return {
    facets: facetFields.map((field): Facet => {
      const values = valuesOf(field.path)
      return { ...field, values: values === undefined ? undefined : filterValues(field.field, values) }
    }),
    times: useTimeCounts(first?.data, (from, to) => countingOf(clauses, between(scope, from, to)), live),
    /** Some count from this time only; undefined: all count everything. */
    countedFrom: earliest,
    error: answers.find(({ error }) => error !== null)?.error ?? null,
    isCounting: answers.some(({ isFetching }) => isFetching),
    retry: () => answers.forEach(({ refetch }) => void refetch()),
  }
}

/** The part of the scope between two times, in milliseconds since 1970. */
const between = (scope: Scope, from: number, to: number): Scope => ({
  ...scope,
  from: Math.max(scope.from ?? Number.NEGATIVE_INFINITY, from / 1000),
  to: Math.min(scope.to ?? Number.POSITIVE_INFINITY, to / 1000),
})

const isPayload = (path: string) => /^(?:inputs|output|attributes)\./.test(path)

const isFiltered = (clauses: readonly Clause[], field: string) => withoutFacet(clauses, field).length < clauses.length
