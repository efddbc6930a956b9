/** Spans in groups, each with the same sums and with the measures that were asked for: evaluation-store-calls 10. */
import { HeddleError } from "../../../errors.ts"
import type { AgentSort, Cell, GroupFilter, GroupRef, Measure } from "../../../wire/agents/span-values.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { validDurationSql } from "./span-fields.ts"
import { groupCondition, measureSql, formatValue } from "./span-measures.ts"
import { type SpanQuery, selectSpans } from "./span-selection.ts"
import { holdsSql } from "./span-texts.ts"
import { type SpanGroup, spanGroups } from "./span-values.ts"

export interface GroupPage {
  groupBy: readonly GroupRef[]
  measures: readonly Measure[]
  filters: readonly GroupFilter[]
  /** What the names or the messages of one of its spans hold; null: whatever. */
  text: string | null
  sortBy: AgentSort | null
  limit: number
  offset: number
}

export interface StoredGroup {
  /** By alias; null: the spans of the group have no such value. */
  keys: Record<string, Cell>
  /** Values of the measures, by alias. */
  metrics: Record<string, Cell>
  /** By the names of {@link sums}, {@link lists} and costs, as they are stored. */
  values: Readonly<Record<string, unknown>>
}

const sums = {
  span_count: "count()",
  invocation_count: "countIf(is_invocation)",
  conversation_count: "uniqExactIf(conversation_id, conversation_id != '')",
  total_input_tokens: "sumIf(input_tokens, is_counted)",
  total_cache_creation_input_tokens: "sumIf(cache_creation_input_tokens, is_counted)",
  total_cache_read_input_tokens: "sumIf(cache_read_input_tokens, is_counted)",
  total_output_tokens: "sumIf(output_tokens, is_counted)",
  total_reasoning_tokens: "sumIf(reasoning_tokens, is_counted)",
  total_duration_ms: `sum(ifNull(${validDurationSql}, 0))`,
  error_count: "countIf(status_code = 'ERROR')",
  first_seen: "min(started_at)",
  last_seen: "max(started_at)",
}

const lists = {
  agent_names: "agent_name",
  agent_versions: "agent_version",
  provider_names: "provider_name",
  request_models: "request_model",
  conversation_names: "conversation_name",
}

/** NULL where no span of the group that counts has a price. */
const costs = {
  total_cost_usd: "sumOrNullIf(total_cost_usd, is_counted)",
  total_input_cost_usd: "sumOrNullIf(input_cost_usd, is_counted)",
  total_output_cost_usd: "sumOrNullIf(output_cost_usd, is_counted)",
}

/** Fields of every group; no measure may take their names. */
export const groupFields: ReadonlySet<string> = new Set([sums, lists, costs].flatMap((one) => Object.keys(one)))

/** Without an order by the first measure, or the last seen first. @throws {HeddleError} for what means nothing. */
export async function listGroups(traces: TraceStore, query: SpanQuery, page: GroupPage): Promise<StoredGroup[]> {
  const { from, parameters } = selectSpans(query, { counted: true })
  const groups = spanGroups(page.groupBy, parameters)
  const measures = page.measures.map((measure) => ({ ...measureSql(measure, parameters), alias: measure.alias }))
  const having = havingSql(page, parameters)
  // Aliases are a client's: inside the statement columns are numbered.
  const columns = [
    ...groups.map(({ sql }, index) => `${sql} as g${index}`),
    ...measures.map(({ sql }, index) => `${sql} as m${index}`),
    ...Object.entries(sums).map(([name, sql]) => `${sql} as s_${name}`),
    ...Object.entries(lists).map(([name, sql]) => `arraySort(groupUniqArrayIf(${sql}, ${sql} != '')) as s_${name}`),
    ...(query.prices === null ? [] : Object.entries(costs).map(([name, sql]) => `${sql} as s_${name}`)),
  ]
  const keys = groups.map((_, index) => `g${index}`)
  const order = [...orderOf(page, groups, query.prices !== null), ...keys]
  const range = `limit ${parameters.bind(page.limit, "UInt64")} offset ${parameters.bind(page.offset, "UInt64")}`
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${columns.join(", ")} from ${from} group by ${keys.join(", ")}
      ${having} order by ${order.join(", ")} ${range}`,
    parameters.values,
  )
  return rows.map((row) => ({
    keys: cells(groups, "g", row),
    metrics: cells(measures, "m", row),
    values: Object.fromEntries([...groupFields].map((name) => [name, row[`s_${name}`]])),
  }))
}

export async function countGroups(
  traces: TraceStore,
  query: SpanQuery,
  page: Pick<GroupPage, "groupBy" | "filters" | "text">,
): Promise<number> {
  const { from, parameters } = selectSpans(query)
  const keys = spanGroups(page.groupBy, parameters).map(({ sql }) => sql)
  const having = havingSql(page, parameters)
  const [row] = await traces.rows<{ n: string }>(
    `select count() as n from (
      select 1 from ${from} group by ${keys.join(", ")} ${having}
    )`,
    parameters.values,
  )
  return Number(row?.n ?? 0)
}

/** A group is listed with all of its spans where one of them holds the text. */
function havingSql({ filters, text }: Pick<GroupPage, "filters" | "text">, parameters: SqlParameters): string {
  const measured = groupCondition(filters, parameters)
  const conditions = [
    ...(text === null ? [] : [`max(${holdsSql(text, parameters)})`]),
    ...(measured === null ? [] : [measured]),
  ]
  return conditions.length === 0 ? "" : `having ${conditions.join(" and ")}`
}

function cells(
  columns: readonly { alias: string; type: SpanGroup["type"] }[],
  prefix: string,
  row: Readonly<Record<string, unknown>>,
): Record<string, Cell> {
  return Object.fromEntries(
    columns.map(({ alias, type }, index) => [alias, formatValue(row[`${prefix}${index}`], type)]),
  )
}

function orderOf({ sortBy, measures }: GroupPage, groups: readonly SpanGroup[], hasCosts: boolean): string[] {
  const names = new Map([
    ...[...groupFields]
      .filter((name) => !(name in lists) && (hasCosts || !(name in costs)))
      .map((name) => [name, `s_${name}`] as const),
    ...measures.map(({ alias }, index) => [alias, `m${index}`] as const),
    ...groups.map(({ alias }, index) => [alias, `g${index}`] as const),
  ])
  if (!sortBy?.length) return [`${measures.length > 0 ? "m0" : "s_last_seen"} desc nulls last`]
  return sortBy.map(({ field, direction }) => {
    const column = names.get(field)
    if (column !== undefined) return `${column} ${direction} nulls last`
    throw new HeddleError("value_error", `Invalid sort field: "${field}"; use ${[...names.keys()].join(", ")}`)
  })
}
