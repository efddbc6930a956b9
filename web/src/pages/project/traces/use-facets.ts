/** Counts beside the filter: of each field as if its own boxes were empty, and of the hours. */
import { type CallFacets, useCallFacets } from "../../../api/calls/call-facets.ts"
import {
  facetFields,
  filterValues,
  type FacetField,
  type FacetValue,
  withoutFacet,
} from "../../../calls/filter/facet-clauses.ts"
import { type Scope, selectionOf } from "../../../calls/filter/filter-query.ts"
import type { Clause } from "../../../calls/filter/filter-text.ts"

const budgetMs = 400
const mostValues = 200
const mostHours = 1000
const liveMs = 5_000
const hours = "started_at"

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
    { fields: plain.map(({ path }) => path).concat(hours), clauses, limit: mostHours },
    ...alone.map(({ field, path }) => ({ fields: [path], clauses: withoutFacet(clauses, field), limit: mostValues })),
  ]
  const answers = useCallFacets(
    isEnabled
      ? countings.map(({ fields, clauses: without, limit }) => ({
          project_id: scope.projectId,
          ...selectionOf(without, scope),
          facets: fields,
          limit,
          ...(isWhole ? {} : { budget_ms: budgetMs }),
        }))
      : [],
    { refetchInterval: isLive ? liveMs : false },
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
    hours: hoursOf(first?.data),
    /** Some count from this time only; undefined: all count everything. */
    countedFrom: earliest,
    error: answers.find(({ error }) => error !== null)?.error ?? null,
    isCounting: answers.some(({ isFetching }) => isFetching),
    retry: () => answers.forEach(({ refetch }) => void refetch()),
  }
}

export interface Hour {
  /** Milliseconds since 1970. */
  start: number
  count: number
}

/** The earliest first. */
function hoursOf(answer: CallFacets | undefined): Hour[] | undefined {
  const values = answer?.facets.find(({ field }) => field === hours)?.values
  return values?.flatMap(({ value, count }) => (value === null ? [] : { start: Date.parse(value), count })).toReversed()
}

const isPayload = (path: string) => /^(?:inputs|output|attributes)\./.test(path)

const isFiltered = (clauses: readonly Clause[], field: string) => withoutFacet(clauses, field).length < clauses.length
