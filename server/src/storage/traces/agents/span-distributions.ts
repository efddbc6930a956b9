/** How the values of an attribute are spread within groups of spans: evaluation-store-calls 10. */
import type { DistributionQuery } from "../../../wire/agents/span-query.ts"
import type { Cell, GroupRef } from "../../../wire/agents/span-values.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { attributeSql } from "./span-fields.ts"
import { formatValue } from "./span-measures.ts"
import { type SpanQuery, selectSpans, type SpanSelection } from "./span-selection.ts"
import { spanGroups } from "./span-values.ts"

export interface GroupValues {
  /** Spans of the group that have the attribute. */
  present: number
  bins: { index: number; min: number; max: number; count: number }[]
  values: { value: string; count: number }[]
}

/** Longest value that is shown, in characters. */
const longestValue = 256

/** By the key of the group; groups without the attribute are left out. */
export async function groupValues(
  traces: TraceStore,
  query: SpanQuery,
  groupBy: GroupRef,
  keys: readonly Cell[],
  distribution: DistributionQuery,
): Promise<Map<Cell, GroupValues>> {
  const selection = selectSpans(query)
  const group = spanGroups([groupBy], selection.parameters)[0]
  if (group === undefined) return new Map()
  const { source } = distribution.value
  const isNumber = source === "custom_attrs_int" || source === "custom_attrs_float"
  const pairs = groupedValues(selection, group.sql, keys, distribution)
  const rows = await traces.rows<Record<string, unknown>>(
    isNumber ? binsSql(pairs, distribution.bins) : topSql(pairs, distribution.top_n),
    selection.parameters.values,
  )
  const byGroup = Map.groupBy(rows, (row) => formatValue(row["key"], group.type))
  return new Map(
    [...byGroup].map(([key, found]) => [key, isNumber ? toBins(found, distribution.bins) : toValues(found)]),
  )
}

/** A select of `key` and `value`, one row for each span of the groups that has the attribute. */
function groupedValues(
  { from, parameters }: SpanSelection,
  groupSql: string,
  keys: readonly Cell[],
  { value }: DistributionQuery,
): string {
  const wanted = parameters.bind(
    keys.filter((key) => key !== null).map((key) => (typeof key === "boolean" ? String(Number(key)) : String(key))),
    "Array(String)",
  )
  const inPage = `(toString(key) in ${wanted}${keys.includes(null) ? " or key is null" : ""})`
  const number = value.source === "custom_attrs_int" || value.source === "custom_attrs_float"
  const sql = attributeSql(value.source, value.key, parameters)
  return `select key, assumeNotNull(found) as value from (
      select ${groupSql} as key, ${number ? `toFloat64(${sql})` : `toString(${sql})`} as found from ${from}
    ) where found is not null and ${inPage}`
}

function binsSql(pairs: string, bins: number): string {
  const place = `least(${bins - 1}, floor((value - low) / ((high - low) / ${bins})))`
  return `select key, low, high, if(high > low, toUInt32(${place}), 0) as bin, count() as n
    from (${pairs}) as pairs
      inner join (select key, min(value) as low, max(value) as high from (${pairs}) group by key) as bounds
      on isNotDistinctFrom(pairs.key, bounds.key)
    group by key, low, high, bin`
}

function topSql(pairs: string, most: number): string {
  return `select key, value, n, sum(n) over (partition by key) as present
    from (select key, value, count() as n from (${pairs}) group by key, value)
    order by n desc, value limit ${most} by key`
}

function toBins(rows: readonly Record<string, unknown>[], bins: number): GroupValues {
  const [low, high] = [Number(rows[0]?.["low"]), Number(rows[0]?.["high"])]
  const counts = new Map(rows.map((row) => [Number(row["bin"]), Number(row["n"])]))
  const width = (high - low) / bins
  const binCount = high > low ? bins : 1
  return {
    present: [...counts.values()].reduce((sum, count) => sum + count, 0),
    values: [],
    bins: Array.from({ length: binCount }, (_, index) => ({
      index,
      min: low + index * width,
      max: index === binCount - 1 ? high : low + (index + 1) * width,
      count: counts.get(index) ?? 0,
    })),
  }
}

function toValues(rows: readonly Record<string, unknown>[]): GroupValues {
  return {
    present: Number(rows[0]?.["present"] ?? 0),
    bins: [],
    values: rows.map((row) => ({
      value: Array.from(String(row["value"])).slice(0, longestValue).join(""),
      count: Number(row["n"]),
    })),
  }
}
