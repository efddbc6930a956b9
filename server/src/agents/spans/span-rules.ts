/** Limits on one query of spans: evaluation-store-calls 10. */
import { HeddleError, invalid } from "../../errors.ts"
import { groupFields } from "../../storage/traces/agents/span-group-list.ts"
import { findSpanColumn } from "../../storage/traces/agents/span-columns.ts"
import type { SpansQueryBody } from "../../wire/agents/span-query.ts"
import type { GroupRef } from "../../wire/agents/span-values.ts"
import { checkGroupFilters, sameGroups } from "../agent-scope.ts"

/** @throws {HeddleError} 422 that names the field at fault; 400 for filters that group otherwise. */
export function checkSpansQuery(body: SpansQueryBody): void {
  const { group_by, measures, group_filters, group_distributions } = body
  if (group_by.length === 0) {
    for (const field of ["measures", "group_filters", "group_distributions"] as const) {
      if (body[field].length > 0) throw invalid(["body", field], `${field} need group_by`)
    }
    return
  }
  if (group_distributions.length > 0 && group_by.length !== 1) {
    throw invalid(["body", "group_distributions"], "group_distributions need exactly one group_by")
  }
  if (body.custom_attr_columns.length > 0) {
    throw invalid(["body", "custom_attr_columns"], "custom_attr_columns are only supported for ungrouped spans")
  }
  if (body.include_details === true) {
    throw invalid(["body", "include_details"], "include_details is only supported for ungrouped spans")
  }
  checkGroupFilters(group_filters)
  checkAliases("measures", measures)
  checkAliases("group_distributions", group_distributions)
  const groups = new Set(group_by.map(groupAlias))
  const taken = measures.findIndex(({ alias }) => groupFields.has(alias) || groups.has(alias))
  if (taken >= 0) {
    throw invalid(["body", "measures", taken, "alias"], `"${measures[taken]?.alias}" is a field of every group`)
  }
  const other = group_filters.find((filter) => filter.group_by?.length && !sameGroups(filter.group_by, group_by))
  if (other !== undefined) {
    throw new HeddleError("value_error", "spans group_filters must use the same group_by as the query")
  }
}

/** The name under which the value of a group stands in the answer. */
export function groupAlias({ source, key, alias }: GroupRef): string {
  if (alias != null) return alias
  return source === "field" || source === "column" ? (findSpanColumn(key) ?? key) : key
}

export function checkAliases(field: string, items: readonly { alias: string }[]): void {
  const repeated = items.findIndex(({ alias }, index) => items.findIndex((one) => one.alias === alias) !== index)
  if (repeated < 0) return
  throw invalid(["body", field, repeated, "alias"], `duplicate alias: "${items[repeated]?.alias}"`)
}
