/** Spans as rows: evaluation-store-calls 10. */
import type { AgentSort } from "../../../wire/agents/span-values.ts"
import { compileOrder } from "../query/query-order.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { numberValue, type SqlValue } from "../query/sql-value.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { type AttributeSource, attributeSources, columnOf, spanColumnNames } from "./span-columns.ts"
import { sortableField } from "./span-fields.ts"
import { type SpanQuery, isIdentity, selectSpans } from "./span-selection.ts"
import { costColumns, spanSource } from "./span-source.ts"
import { largeSpanLimits } from "./span-table.ts"

export interface SpanPage {
  details: boolean
  /** Attributes to show when details are not asked for. */
  attributes: readonly { source: AttributeSource; key: string }[]
  sortBy: AgentSort | null
  limit: number
  offset: number
}

/** By column; what was not asked for is not there. Whole numbers of 64 bits come as text, times as they are stored. */
export type StoredSpan = Readonly<Record<string, unknown>>

/** Without an order, the newest first. @throws {HeddleError} for fields and expressions that mean nothing. */
export async function listSpans(traces: TraceStore, query: SpanQuery, page: SpanPage): Promise<StoredSpan[]> {
  // Large columns are read of the spans of the page only.
  const ids = await listIds(traces, query, page)
  if (ids.length === 0) return []
  const parameters = new SqlParameters()
  const traceIds = [...new Set(ids.map(({ trace_id }) => trace_id))]
  const scope = { projectId: query.projectId, parameters, after: null, before: null, traceIds }
  const source = spanSource(scope, { identity: true, raw: page.details, prices: query.prices })
  const columns = [...selectedColumns(page, parameters), ...(query.prices === null ? [] : costColumns)]
  const spanIds = parameters.bind([...new Set(ids.map(({ span_id }) => span_id))], "Array(String)")
  const rows = await traces.rows<StoredSpan>(
    `select ${columns.join(", ")} from ${source} where span_id in ${spanIds}`,
    parameters.values,
    largeSpanLimits,
  )
  const byId = new Map(rows.map((row) => [keyOf(row as unknown as SpanId), row]))
  return ids.flatMap((id): StoredSpan[] => {
    const row = byId.get(keyOf(id))
    return row === undefined ? [] : [row]
  })
}

interface SpanId {
  trace_id: string
  span_id: string
}

function keyOf({ trace_id, span_id }: SpanId): string {
  return `${trace_id} ${span_id}`
}

async function listIds(traces: TraceStore, query: SpanQuery, page: SpanPage): Promise<SpanId[]> {
  const sortBy = page.sortBy ?? []
  const byCost = query.prices !== null && sortBy.some(({ field }) => isCost(field))
  const priced = byCost ? query : { ...query, prices: null }
  const { from, parameters } = selectSpans(priced, { identity: sortBy.some(({ field }) => isIdentity(field)) })
  const order = orderOf(sortBy, query.prices !== null, parameters)
  const range = `limit ${parameters.bind(page.limit, "UInt64")} offset ${parameters.bind(page.offset, "UInt64")}`
  return traces.rows<SpanId>(
    `select trace_id, span_id from ${from} order by ${order.join(", ")} ${range}`,
    parameters.values,
  )
}

function isCost(field: string): boolean {
  return (costColumns as readonly string[]).includes(field)
}

export async function countSpans(traces: TraceStore, query: SpanQuery): Promise<number> {
  const { from, parameters } = selectSpans(query, { identity: false })
  const [row] = await traces.rows<{ n: string }>(`select count() as n from ${from}`, parameters.values)
  return Number(row?.n ?? 0)
}

function selectedColumns({ details, attributes }: SpanPage, parameters: SqlParameters): string[] {
  if (details) return spanColumnNames
  const scalars: string[] = spanColumnNames.filter((name) => columnOf(name).isDetail === undefined)
  const chosen = Map.groupBy(attributes, ({ source }) => source)
  const maps = attributeSources.flatMap((source) => {
    const keys = chosen.get(source)?.map(({ key }) => key)
    if (keys === undefined) return []
    // Not under the name of the column that it is made of.
    return [
      `mapFilter((key, value) -> has(${parameters.bind(keys, "Array(String)")}, key), ${source}) as shown_${source}`,
    ]
  })
  return [...scalars, ...maps]
}

function orderOf(sortBy: AgentSort, hasCosts: boolean, parameters: SqlParameters): string[] {
  const field = (path: string): SqlValue => {
    if (hasCosts && isCost(path)) return numberValue(path)
    return sortableField(path, parameters)
  }
  const terms = sortBy.length === 0 ? ["started_at desc"] : compileOrder(sortBy, field)
  return [...terms, "span_id", "trace_id"]
}

/** The attributes of a row, of whichever way they were asked for. */
export function attributesOf(row: StoredSpan, source: AttributeSource): unknown {
  return row[`shown_${source}`] ?? row[source]
}
