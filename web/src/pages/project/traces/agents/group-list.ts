/** Which groups of spans the lists of agents and conversations ask for. */
import type { SpanGroup, SpansQuery } from "../../../../api/agents/span-groups.ts"
import type { TimeRange } from "../time-range.ts"

const equal = (field: string, value: string) => ({ $eq: [{ $getField: field }, { $literal: value }] })
const isGiven = (field: string) => ({ $expr: { $not: [equal(field, "")] } })

interface Wanted {
  projectId: string
  range: TimeRange
  sortBy: { field: string; direction: "asc" | "desc" }
  /** What is looked for; empty: everything. */
  text: string
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()

function groupsOf(key: string, { projectId, range, sortBy }: Omit<Wanted, "text">) {
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

/** What half of the spans and what 95 % of them stay within, of those that meet the condition. */
function latenciesOf(condition: ReturnType<typeof equal>) {
  return (["p50", "p95"] as const).map((aggregation) => ({
    alias: `${aggregation}_ms`,
    aggregation,
    value: { source: "derived" as const, key: "duration_ms" },
    filter: { $expr: condition },
  }))
}

/** An agent works as long as its invocations do, which contain what happens inside of them. */
const invocations = equal("operation_name", "invoke_agent")
/** A turn takes as long as the span around it. */
const outermost = equal("parent_span_id", "")

const turns = { alias: "turns", aggregation: "count_distinct", value: { source: "field", key: "trace_id" } } as const

/** With a text those whose name holds it. */
export function agentList({ text, ...wanted }: Wanted): SpansQuery {
  const list = { ...groupsOf("agent_name", wanted), measures: latenciesOf(invocations) }
  if (text === "") return list
  const holds = {
    $contains: { input: { $getField: "agent_name" }, substr: { $literal: text }, case_insensitive: true },
  }
  return { ...list, query: { $expr: { $and: [list.query.$expr, holds] } } }
}

/** With `agent` those in which it took part, with a text those that hold it, each with everything in it. */
export function conversationList({ text, ...wanted }: Wanted, agent: string): SpansQuery {
  const takesPart = { alias: "spans", aggregation: "count", filter: { $expr: equal("agent_name", agent) } } as const
  return {
    ...groupsOf("conversation_id", wanted),
    measures: [turns, ...latenciesOf(outermost)],
    ...(text === "" ? {} : { q: text }),
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

/** null: no span says that the agent was invoked, or where the turns begin. */
export function latencyOf({ metrics }: SpanGroup, percentile: "p50" | "p95"): number | null {
  const duration = metrics[`${percentile}_ms`]
  return typeof duration === "number" ? duration : null
}
