/** Agents and their versions: evaluation-store-calls 10. */
import type { AgentSort } from "../../../wire/agents/span-values.ts"
import { HeddleError } from "../../../errors.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { validDurationSql } from "./span-fields.ts"
import { formatTime, percentileSql } from "./span-measures.ts"
import { type PriceStep, type SpanSource, spanSource } from "./span-source.ts"
import { occursSql } from "./span-texts.ts"

export interface AgentTotals {
  agent_name: string
  agent_version: string
  invocation_count: number
  span_count: number
  total_input_tokens: number
  total_output_tokens: number
  total_duration_ms: number
  p50_duration_ms: number | null
  p95_duration_ms: number | null
  error_count: number
  first_seen: string
  last_seen: string
  total_cost_usd: number | null
}

const counts = {
  invocation_count: "countIf(is_invocation)",
  span_count: "count()",
  total_input_tokens: "sumIf(input_tokens, is_counted)",
  total_output_tokens: "sumIf(output_tokens, is_counted)",
  // The time of an invocation contains that of everything inside of it.
  total_duration_ms: `if(countIf(is_invocation) > 0,
    sumIf(ifNull(${validDurationSql}, 0), is_invocation), sum(ifNull(${validDurationSql}, 0)))`,
  error_count: "countIf(status_code = 'ERROR')",
}

const latencies = {
  p50_duration_ms: percentileSql(50, `if(is_invocation, ${validDurationSql}, NULL)`),
  p95_duration_ms: percentileSql(95, `if(is_invocation, ${validDurationSql}, NULL)`),
}

export interface AgentPage {
  projectId: string
  /** A part of the agent's name, whatever the case of its letters; null: any. */
  text: string | null
  /** null: every agent. */
  agentName: string | null
  /** A row for each version of an agent. */
  byVersion: boolean
  prices: readonly PriceStep[] | null
  sortBy: AgentSort | null
  limit: number
  offset: number
}

/** Without an order, the last seen first. @throws {HeddleError} `value_error` for a field that agents do not have. */
export async function listAgents(traces: TraceStore, page: AgentPage): Promise<AgentTotals[]> {
  const parameters = new SqlParameters()
  const columns = [
    ...Object.entries({ ...counts, ...latencies }).map(([name, sql]) => `${sql} as ${name}_`),
    "min(started_at) as first_seen_",
    "max(started_at) as last_seen_",
    `${page.prices === null ? "NULL" : "sumOrNullIf(total_cost_usd, is_counted)"} as total_cost_usd_`,
  ]
  const range = `limit ${parameters.bind(page.limit, "UInt64")} offset ${parameters.bind(page.offset, "UInt64")}`
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${keysOf(page)}, ${columns.join(", ")} from ${agentSpans(page, parameters, totalledSpans)}
      group by ${keysOf(page)} order by ${orderOf(page).join(", ")} ${range}`,
    parameters.values,
  )
  return rows.map(toTotals)
}

/** Spans that name an agent tell of all of them. */
export async function countAgents(traces: TraceStore, page: AgentPage): Promise<number> {
  const parameters = new SqlParameters()
  const [row] = await traces.rows<{ n: string }>(
    `select uniqExact(${keysOf(page)}) as n from ${agentSpans({ ...page, prices: null }, parameters, plainSpans)}`,
    parameters.values,
  )
  return Number(row?.n ?? 0)
}

function keysOf({ byVersion }: AgentPage): string {
  return byVersion ? "agent_name, agent_version" : "agent_name"
}

const plainSpans = { identity: false }
const totalledSpans = { identity: true, counted: true }

function agentSpans(
  { projectId, agentName, text, prices }: AgentPage,
  parameters: SqlParameters,
  spans: Omit<SpanSource, "prices">,
): string {
  const scope = { projectId, parameters, after: null, before: null, traceIds: null }
  const named = agentName === null ? "" : ` and agent_name = ${parameters.bind(agentName, "String")}`
  const found = text === null ? "" : ` and ${occursSql("agent_name", text, parameters)}`
  return `${spanSource(scope, { ...spans, prices })} where agent_name != ''${named}${found}`
}

const sortable = ["agent_name", ...Object.keys(counts), ...Object.keys(latencies), "first_seen", "last_seen"]

function orderOf({ sortBy, byVersion, prices }: AgentPage): string[] {
  const names = [...sortable, ...(byVersion ? ["agent_version"] : []), ...(prices === null ? [] : ["total_cost_usd"])]
  const keys = byVersion ? ["agent_name", "agent_version"] : ["agent_name"]
  const terms = (sortBy ?? []).map(({ field, direction }) => {
    if (!names.includes(field)) {
      throw new HeddleError("value_error", `Invalid sort field: "${field}"; use ${names.join(", ")}`)
    }
    return `${keys.includes(field) ? field : `${field}_`} ${direction} nulls last`
  })
  return [...(terms.length > 0 ? terms : ["last_seen_ desc"]), ...keys]
}

function toTotals(row: Readonly<Record<string, unknown>>): AgentTotals {
  const count = (name: keyof typeof counts) => Number(row[`${name}_`])
  const cost = row["total_cost_usd_"]
  const latency = (name: keyof typeof latencies) => (row[`${name}_`] as number | null | undefined) ?? null
  return {
    agent_name: String(row["agent_name"]),
    agent_version: (row["agent_version"] ?? "") as string,
    invocation_count: count("invocation_count"),
    span_count: count("span_count"),
    total_input_tokens: count("total_input_tokens"),
    total_output_tokens: count("total_output_tokens"),
    total_duration_ms: count("total_duration_ms"),
    p50_duration_ms: latency("p50_duration_ms"),
    p95_duration_ms: latency("p95_duration_ms"),
    error_count: count("error_count"),
    first_seen: formatTime(String(row["first_seen_"])),
    last_seen: formatTime(String(row["last_seen_"])),
    total_cost_usd: typeof cost === "number" ? cost : null,
  }
}
