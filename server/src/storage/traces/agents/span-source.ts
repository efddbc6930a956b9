/**
 * What queries of spans read: the stored spans, and on request the identity that a span has from its
 * trace, the raw span that its call holds, and what it cost. Each is a select in brackets that adds its
 * columns to those of the table.
 */
import { recordedSortTimesSql } from "../calls/insert/call-places.ts"
import { callsFinal } from "../calls/calls-tables.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { withCounted } from "./counted-usage.ts"
import type { SpanColumnName } from "./span-columns.ts"

export interface SpanScope {
  projectId: string
  parameters: SqlParameters
  /** Microseconds since 1970: inclusive, exclusive. */
  after: bigint | null
  before: bigint | null
  /** null: of every trace. */
  traceIds: readonly string[] | null
}

export interface PriceStep {
  model: string
  /** Microseconds since 1970 from which it holds, until the next step of the model. */
  since: bigint
  prompt: number
  completion: number
  cacheRead: number
  cacheCreation: number
}

export interface SpanSource {
  /**
   * A span that names no agent has that of the nearest span around it, one that names no conversation that of its trace.
   * `is_invocation` tells whether it is an invocation of its agent: not the span around a whole run that names none, in a
   * trace where others name theirs. `conversation`: that alone, which takes no walk over the spans.
   */
  identity: boolean | "conversation"
  /** Whether `is_counted` is there: it tells whether totals count the tokens and costs of a span. */
  counted?: boolean
  /** Whether `raw_span_dump` is there: it is large, and in the table of calls. */
  raw?: boolean
  /** null: the columns of {@link costColumns} are not there. */
  prices: readonly PriceStep[] | null
}

export const costColumns = [
  "input_cost_usd",
  "output_cost_usd",
  "cache_read_cost_usd",
  "cache_creation_cost_usd",
  "total_cost_usd",
] as const

export function spanSource(scope: SpanScope, { identity, counted, raw, prices }: SpanSource): string {
  const stored = raw ? rawSpans(scope) : storedSpans(scope)
  const identified =
    identity === true ? identifiedSpans(scope, stored) : identity ? conversingSpans(scope, stored) : stored
  const tallied = counted
    ? withCounted(identified, { ofTraces: tracesOf(scope), parameters: scope.parameters })
    : identified
  return prices === null ? tallied : pricedSpans(scope, tallied, prices)
}

function scopeConditions(scope: SpanScope): string {
  const { parameters, after, before } = scope
  const conditions = [tracesOf(scope)]
  const at = (moment: bigint) => `fromUnixTimestamp64Micro(${parameters.bind(moment, "Int64")}, 'UTC')`
  if (after !== null) conditions.push(`started_at >= ${at(after)}`)
  if (before !== null) conditions.push(`started_at < ${at(before)}`)
  return conditions.join(" and ")
}

function tracesOf({ projectId, parameters, traceIds }: SpanScope): string {
  const ofProject = `project_id = ${parameters.bind(projectId, "UUID")}`
  return traceIds === null ? ofProject : `${ofProject} and trace_id in ${parameters.bind(traceIds, "Array(String)")}`
}

function storedSpans(scope: SpanScope): string {
  return `(select * from agent_spans final where ${scopeConditions(scope)})`
}

/** Spans that were stored before their calls were hold the raw span themselves. */
function rawSpans(scope: SpanScope): string {
  const project = scope.parameters.bind(scope.projectId, "UUID")
  const ids = `(select span_id from agent_spans where ${scopeConditions(scope)})`
  // The id of a span holds no time.
  const sortTimes = recordedSortTimesSql(scope.parameters, scope.projectId, ids)
  const dumps = `select id, trace_id, substring(otel_dump, 2, length(otel_dump) - 2) as text from ${callsFinal}
    where project_id = ${project} and sort_time in (${sortTimes}) and id in ${ids}
      and isNotNull(otel_dump) and isNull(deleted_at)`
  return `(select own.* replace (if(own.raw_span_dump != '', own.raw_span_dump, ifNull(dump.text, '')) as raw_span_dump)
    from ${storedSpans(scope)} as own left join (${dumps}) as dump
      on dump.id = own.span_id and dump.trace_id = own.trace_id)`
}

export const identityColumns: ReadonlySet<SpanColumnName> = new Set([
  "agent_name",
  "agent_version",
  "agent_id",
  "conversation_id",
])

/**
 * Instrumentations write the agent and the conversation on the span of the invocation only. An agent's name, version and id
 * come together, so that no two agents are mixed; a span that names its own agent keeps all three.
 */
function identifiedSpans(scope: SpanScope, stored: string): string {
  const own = "own.agent_name != ''"
  return `(select own.* except (${[...identityColumns].join(", ")}),
      multiIf(${own}, (toString(own.agent_name), toString(own.agent_version), own.agent_id),
        around.agent.1 != '', around.agent, of_trace.agent) as agent_,
      agent_.1 as agent_name, agent_.2 as agent_version, agent_.3 as agent_id,
      if(own.conversation_id != '', own.conversation_id, of_trace.conversation) as conversation_id,
      own.operation_name = 'invoke_agent' and (${own} or of_trace.agent.1 = '') as is_invocation
    from ${stored} as own
    left join (${firstOfTraces(scope, `${first(agentSql, "agent_name")} as agent`)}) as of_trace
      on of_trace.trace = own.trace_id
    left any join (${agentsAround(scope)}) as around on around.span = ${spanKey("own.trace_id", "own.span_id")})`
}

function conversingSpans(scope: SpanScope, stored: string): string {
  return `(select own.* except (conversation_id),
      if(own.conversation_id != '', own.conversation_id, of_trace.conversation) as conversation_id
    from ${stored} as own left join (${firstOfTraces(scope)}) as of_trace on of_trace.trace = own.trace_id)`
}

function firstOfTraces(scope: SpanScope, ...more: string[]): string {
  const columns = ["trace_id as trace", `${first("conversation_id", "conversation_id")} as conversation`, ...more]
  return `select ${columns.join(", ")} from agent_spans final where ${tracesOf(scope)} group by trace_id`
}

/** SQL: what the first span of a trace that has a text in this column says. */
function first(sql: string, column: SpanColumnName): string {
  // Among spans that start together, the enclosing one comes first.
  const place = "(started_at, parent_span_id != '', -toUnixTimestamp64Micro(ifNull(ended_at, started_at)), span_id)"
  return `argMinIf(${sql}, ${place}, ${column} != '')`
}

const agentSql = "(toString(agent_name), toString(agent_version), agent_id)"

/** SQL: a number for each span, by which spans are joined sooner than by their ids. */
const spanKey = (traceId: string, spanId: string) => `xxh3(${traceId}, ${spanId})`

/** So far a span is at most from the one whose agent it has: each step reads the spans once more. */
const mostSteps = 32

/**
 * By their number, spans that name no agent with that of the nearest span around them: decision 0044. The walk goes down from
 * the spans that name one, and only where a trace has several agents.
 */
function agentsAround(scope: SpanScope): string {
  const naming = `from agent_spans final where ${tracesOf(scope)} and agent_name != ''`
  const several = ["agent_name", "agent_version", "agent_id"].map((column) => `min(${column}) != max(${column})`)
  const ofSeveral = `trace_id in (select trace_id ${naming} group by trace_id having ${several.join(" or ")})`
  return `with recursive walk as (
      select ${spanKey("trace_id", "span_id")} as span, ${agentSql} as agent, 0 as steps ${naming} and ${ofSeveral}
      union all
      select child.span as span, walk.agent as agent, walk.steps + 1 as steps
      from (
        select ${spanKey("trace_id", "span_id")} as span, ${spanKey("trace_id", "parent_span_id")} as parent
        from agent_spans final where ${tracesOf(scope)} and agent_name = ''
      ) as child
      join walk on walk.span = child.parent
      where walk.steps < ${mostSteps})
    select span, agent from walk where steps > 0`
}

/** As calls are priced: cached tokens at their own rate only, and NULL where no price is known. */
function pricedSpans({ parameters }: SpanScope, spans: string, prices: readonly PriceStep[]): string {
  if (prices.length === 0) {
    const unknown = costColumns.map((column) => `cast(NULL, 'Nullable(Float64)') as ${column}`)
    return `(select *, ${unknown.join(", ")} from ${spans})`
  }
  // The one under whose name the call of the span has its usage.
  const model = "if(response_model != '', toString(response_model), toString(request_model))"
  const uncached = "greatest(0, input_tokens - cache_read_input_tokens - cache_creation_input_tokens)"
  const [input, output, read, creation] = [
    `${uncached} * price.prompt`,
    "output_tokens * price.completion",
    "cache_read_input_tokens * price.cache_read",
    "cache_creation_input_tokens * price.cache_creation",
  ].map((cost) => `if(price.known = 1, ${cost}, NULL)`)
  return `(select spans.* except (priced_model),
      ${input} as input_cost_usd, ${output} as output_cost_usd, ${read} as cache_read_cost_usd,
      ${creation} as cache_creation_cost_usd,
      input_cost_usd + output_cost_usd + cache_read_cost_usd + cache_creation_cost_usd as total_cost_usd
    from (select *, ${model} as priced_model from ${spans}) as spans
    asof left join (${priceTable(parameters, prices)}) as price
      on price.model = spans.priced_model and price.since <= spans.started_at)`
}

function priceTable(parameters: SqlParameters, prices: readonly PriceStep[]): string {
  const column = (type: string, field: keyof PriceStep) =>
    parameters.bind(
      prices.map((price) => price[field]),
      `Array(${type})`,
    )
  const columns = [
    column("String", "model"),
    column("Int64", "since"),
    column("Float64", "prompt"),
    column("Float64", "completion"),
    column("Float64", "cacheRead"),
    column("Float64", "cacheCreation"),
  ]
  return `select step.1 as model, fromUnixTimestamp64Micro(step.2, 'UTC') as since, step.3 as prompt,
      step.4 as completion, step.5 as cache_read, step.6 as cache_creation, 1 as known
    from (select arrayJoin(arrayZip(${columns.join(", ")})) as step)`
}
