/** Facets beside a filter: what is checked is read from its clauses, and checking writes them. */
import { statuses } from "./filter-fields.ts"
import type { Clause } from "./filter-text.ts"

export interface FacetField {
  /** As the filter names it. */
  field: string
  title: string
  /** As the API names it. */
  path: string
}

export const facetFields: readonly FacetField[] = [
  { field: "status", title: "Status", path: "summary.weave.status" },
  { field: "op", title: "Operation", path: "op_name" },
  { field: "model", title: "Model", path: "inputs.model" },
  { field: "user", title: "User", path: "wb_user_id" },
]

export interface FacetValue {
  /** As the filter writes it; null: it is missing. */
  value: string | null
  count: number
}

const opRef = /^weave:\/\/\/[^/]+\/[^/]+\/(?:op|object)\/([^/:]+):/

/** Values of the API as the filter writes them: all versions of a function are one. */
export function filterValues(field: string, values: readonly FacetValue[]): FacetValue[] {
  const written = new Map<string | null, number>()
  for (const { value, count } of values) {
    const name = writtenValue(field, value)
    written.set(name, (written.get(name) ?? 0) + count)
  }
  return [...written].map(([value, count]) => ({ value, count })).toSorted((a, b) => b.count - a.count)
}

function writtenValue(field: string, value: string | null): string | null {
  if (value === null) return null
  if (field === "op") return opRef.exec(value)?.[1] ?? value
  if (field === "status") return Object.entries(statuses).find(([, stored]) => stored === value)?.[0] ?? value
  return value
}

/** Which values of the field the filter takes; null among them: it takes calls without one. */
export function checkedValues(clauses: readonly Clause[], field: string): ReadonlySet<string | null> {
  const clause = clauses[placeOf(clauses, field)]
  if (clause === undefined) return new Set()
  return new Set(clause.operator === "missing" ? [null] : clause.values.map(({ text }) => text))
}

/** The filter without what the facet's boxes say. */
export function withoutFacet(clauses: readonly Clause[], field: string): Clause[] {
  const place = placeOf(clauses, field)
  return place === -1 ? [...clauses] : clauses.toSpliced(place, 1)
}

/** The filter after the box of a value is pressed. A missing value and others cannot be asked for at once: the last pressed wins. */
export function toggledFacet(clauses: readonly Clause[], field: string, value: string | null): Clause[] {
  const place = placeOf(clauses, field)
  const old = clauses[place]
  const next = toggledClause(old, field, value)
  if (old === undefined) return next === null ? [...clauses] : [...clauses, next]
  return next === null ? clauses.toSpliced(place, 1) : clauses.toSpliced(place, 1, next)
}

function toggledClause(old: Clause | undefined, field: string, value: string | null): Clause | null {
  if (value === null) return old?.operator === "missing" ? null : { field, operator: "missing", values: [] }
  const before = old === undefined || old.operator === "missing" ? [] : old.values
  const without = before.filter(({ text }) => text !== value)
  const isOn = without.length < before.length
  // A model may be called 4: between quotes it stays a name.
  const values = isOn ? without : [...before, { text: value, isQuoted: isNumber(value) }]
  if (values.length === 0) return null
  return { field, operator: values.length === 1 ? "is" : "in", values }
}

const isNumber = (text: string) => text.trim() !== "" && !Number.isNaN(Number(text))

/** The clause that boxes are read from and write to; other operators stay beside it. */
function placeOf(clauses: readonly Clause[], field: string): number {
  return clauses.findIndex((clause) => clause.field === field && ["is", "in", "missing"].includes(clause.operator))
}
