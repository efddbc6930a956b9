/** `sort_by` as SQL: evaluation-store-calls 3.7. */
import type { SortBy } from "../../../wire/queries/query.ts"
import { finiteNumber, type SqlValue } from "./sql-value.ts"

/**
 * The terms of an `order by`. JSON goes by number and then by text; what is missing comes last in
 * both directions, which puts existing values first without a key of their own.
 */
export function compileOrder(sortBy: readonly SortBy[], field: (path: string) => SqlValue): string[] {
  return sortBy.flatMap(({ field: path, direction }) =>
    sortKeys(field(path)).map((key) => `${key} ${direction} nulls last`),
  )
}

function sortKeys(value: SqlValue): string[] {
  switch (value.kind) {
    case "json":
      return [finiteNumber(value.as("text")), value.as("text")]
    case "list":
    case "null":
      return [value.as("text")]
    case "text":
    case "number":
    case "bool":
    case "time":
      return [value.as(value.kind)]
  }
}
