/** How often values of fields occur among calls: evaluation-store-calls 3.11. */
import { callField, type CallFieldScope } from "./fields/call-query-fields.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { callsFinal, callsTable } from "./calls-tables.ts"
import type { FacetTimeUnit } from "../../../wire/calls/call-facets.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** A range of sort times, `from` being part of it; null: no end. */
export interface SortTimeRange {
  from: number | null
  to: number | null
}

/** The sort time of the first of the `rows` rows before `to`; null: there are fewer. */
export async function sortTimeBefore(
  traces: TraceStore,
  projectId: string,
  to: number | null,
  rows: number,
): Promise<number | null> {
  const parameters = new SqlParameters()
  const project = `project_id = ${parameters.bind(projectId, "UUID")}`
  const before = to === null ? "true" : `sort_time < ${parameters.bind(to, "Int64")}`
  const found = await traces.rows<{ sort_time: string }>(
    `select sort_time from ${callsTable} where ${project} and ${before}
      order by project_id desc, sort_time desc limit 1 offset ${rows - 1}`,
    parameters.values,
  )
  return found[0] === undefined ? null : Number(found[0].sort_time)
}

export interface FacetField {
  path: string
  /** SQL of its text, nullable. */
  sql: string
  isTime: boolean
}

interface FacetFields {
  fields: FacetField[]
  parameters: SqlParameters
}

/** Longer values are told apart by their first characters only. */
const longestValue = 1000

/** Times are counted by the unit. @throws {HeddleError} for what is no field of a call. */
export function facetFields(
  paths: readonly string[],
  timeUnit: FacetTimeUnit,
  scope: Omit<CallFieldScope, "parameters">,
): FacetFields {
  const parameters = new SqlParameters("f")
  const fields = paths.map((path) => {
    const value = callField(path, { ...scope, parameters })
    const isTime = value.kind === "time"
    const sql = isTime ? unitSql(value.as("time"), timeUnit) : `substringUTF8(${value.as("text")}, 1, ${longestValue})`
    return { path, sql, isTime }
  })
  return { fields, parameters }
}

/** Of a time like 2026-01-02 03:04:05.678, the characters up to its unit, and what makes a whole time of them. */
const unitTexts = {
  hour: { length: 13, end: ":00:00Z" },
  minute: { length: 16, end: ":00Z" },
  second: { length: 19, end: "Z" },
} as const satisfies Record<FacetTimeUnit, object>

/** From the text of the time: ClickHouse's own start of an hour is right from 1970 to 2106 only. */
function unitSql(time: string, unit: FacetTimeUnit): string {
  const { length, end } = unitTexts[unit]
  return `concat(replaceOne(substring(toString(${time}), 1, ${length}), ' ', 'T'), '${end}')`
}

interface CountedValue {
  facet: number
  value: string | null
  count: number
}

interface Counted {
  calls: number
  values: CountedValue[]
}

/** Stands beside the numbers of the fields, for the calls themselves. */
const everyCall = 255

/** Different values of one field that are told apart in one reading. */
const mostGroups = 10_000
const bytes = 1024 ** 3

/** The calls of the range that match, by each field; of more than {@link mostGroups} values the most frequent. */
export async function countValues(
  traces: TraceStore,
  selection: CallsSelection,
  { fields, parameters }: FacetFields,
  { from, to }: SortTimeRange,
): Promise<Counted> {
  const own = new SqlParameters("r")
  const within = [
    ...(from === null ? [] : [`sort_time >= ${own.bind(from, "Int64")}`]),
    ...(to === null ? [] : [`sort_time < ${own.bind(to, "Int64")}`]),
  ]
  const pairs = fields.map(({ sql }, index) => `(toUInt8(${index}), cast(${sql} as Nullable(String)))`)
  pairs.push(`(toUInt8(${everyCall}), NULL)`)
  const conditions = [...within, selection.where]
  const rows = await traces.rows<{ facet: number; value: string | null; n: string }>(
    `select pair.1 as facet, pair.2 as value, count() as n
      from (select arrayJoin([${pairs.join(", ")}]) as pair from ${callsFinal} where ${conditions.join(" and ")})
      group by facet, value order by n desc, value limit ${mostGroups} by facet`,
    { ...selection.parameters, ...parameters.values, ...own.values },
    { bytes },
  )
  const values = rows.map(({ facet, value, n }) => ({ facet, value, count: Number(n) }))
  return {
    calls: values.find(({ facet }) => facet === everyCall)?.count ?? 0,
    values: values.filter(({ facet }) => facet !== everyCall),
  }
}
