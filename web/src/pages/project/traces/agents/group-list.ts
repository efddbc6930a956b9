/** Which groups of spans the lists of agents and conversations ask for. */
import type { SpanGroup, SpansQuery } from "../../../../api/agents/span-groups.ts"
import type { TimeRange } from "../time-range.ts"

const equal = (field: string, value: string) => ({ $eq: [{ $getField: field }, { $literal: value }] })
const isGiven = (field: string) => ({ $expr: { $not: [equal(field, "")] } })

interface Wanted {
  projectId: string
  range: TimeRange
  sortBy: { field: string; direction: "asc" | "desc" }
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()

function groupsOf(key: string, { projectId, range, sortBy }: Wanted) {
  return {
    project_id: projectId,
    group_by: [{ source: "field", key }],
    query: isGiven(key),
    ...(range.from === undefined ? {} : { started_after: timeOf(range.from) }),
    ...(range.to === undefined ? {} : { started_before: timeOf(range.to) }),
    sort_by: [sortBy],
    include_costs: true,
  } satisfies SpansQuery
}

/** An agent works as long as its invocations do, which contain what happens inside of them. */
const meanDuration = {
  alias: "mean_ms",
  aggregation: "avg",
  value: { source: "derived", key: "duration_ms" },
  filter: { $expr: equal("operation_name", "invoke_agent") },
} as const

const turns = { alias: "turns", aggregation: "count_distinct", value: { source: "field", key: "trace_id" } } as const

export function agentList(wanted: Wanted): SpansQuery {
  return { ...groupsOf("agent_name", wanted), measures: [meanDuration] }
}

/** With `agent` those in which it took part, each with everything in it. */
export function conversationList(wanted: Wanted, agent: string): SpansQuery {
  const takesPart = { alias: "spans", aggregation: "count", filter: { $expr: equal("agent_name", agent) } } as const
  return {
    ...groupsOf("conversation_id", wanted),
    measures: [turns],
    ...(agent === "" ? {} : { group_filters: [{ measure: takesPart, min: 1 }] }),
  }
}

/** One conversation with what all of it came to. */
export function conversationQuery(projectId: string, id: string): SpansQuery {
  return {
    project_id: projectId,
    group_by: [{ source: "field", key: "conversation_id" }],
    query: { $expr: equal("conversation_id", id) },
    measures: [turns],
    include_costs: true,
    limit: 1,
  }
}

const textOf = (group: SpanGroup, key: string) => String(group.group_keys[key] ?? "")

export const agentName = (group: SpanGroup) => textOf(group, "agent_name")
export const conversationId = (group: SpanGroup) => textOf(group, "conversation_id")

/** What it is called, else what the user said first; empty: neither is known. */
export function conversationTitle({ conversation_names, first_message }: SpanGroup): string {
  return conversation_names[0] ?? first_message?.text.trim() ?? ""
}

export const turnCount = ({ metrics }: SpanGroup) => Number(metrics["turns"] ?? 0)

/** null: no span says that the agent was invoked. */
export function meanMs({ metrics }: SpanGroup): number | null {
  const mean = metrics["mean_ms"]
  return typeof mean === "number" ? mean : null
}
