/**
 * Whose tokens a total counts: evaluation-store-calls 10, decision 0043.
 *
 * What a request used is told more than once: by the framework that asks and by the library that sends, one span right
 * inside the other, and as a part of the sum on the span of the agent around them. A plain sum counts it each time.
 */
import { latest, version } from "../model-versions.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"

/** Operations that ask a model for an answer, as the conventions of OpenTelemetry name them. */
export const answers = ["chat", "generate_content", "text_completion"]
/** Embeddings alone say nothing of what an agent's model used. */
const requests = [...answers, "embeddings"]

const agents = ["invoke_agent"]

/** Which spans the totals of these spans depend on, as an SQL condition: those of all their traces. */
interface CountedScope {
  ofTraces: string
  parameters: SqlParameters
}

/** A select in brackets that adds `is_counted` to those of `spans`. */
export function withCounted(spans: string, scope: CountedScope): string {
  const key = "(trace_id, span_id)"
  return `(select *, ((trace_id not in (${tracesOfRequests(scope)}) or operation_name in (${quoted(requests)})
        or ${key} in (${loneAgents(scope)}))
      and ${key} not in (${repeatedSpans(scope)})) as is_counted
    from ${spans})`
}

/** The spans of these operations that tell tokens. */
function telling({ ofTraces }: CountedScope, operations: readonly string[], columns: string): string {
  return `select ${columns} from agent_spans final
    where ${ofTraces} and operation_name in (${quoted(operations)}) and (input_tokens > 0 or output_tokens > 0)`
}

/** In other traces the sums of agents and steps are all there is. */
function tracesOfRequests(scope: CountedScope): string {
  return telling(scope, answers, "trace_id")
}

/**
 * Agents whose sum is of requests that no span tells: none that does began while they ran. Time is asked and not the tree,
 * since spans between an agent and its requests may not be spans of agents.
 */
function loneAgents(scope: CountedScope): string {
  const asked = telling(scope, answers, "trace_id, started_at as asked_at")
  return `select agent.trace_id, agent.span_id
    from (${telling(scope, agents, "trace_id, span_id, started_at, ended_at")}) as agent
    asof left join (${asked}) as request
      on request.trace_id = agent.trace_id and request.asked_at >= agent.started_at
    where request.trace_id = '' or (request.asked_at > agent.started_at and request.asked_at >= agent.ended_at)`
}

/**
 * Of a span and those of its kind right inside it, what tells the same again: the outer one where one inside tells the same
 * counts, or all together do; of requests to the same model those that tell less. A request that a tool makes is not right
 * inside of that which called the tool.
 */
function repeatedSpans(scope: CountedScope): string {
  const kind = `multiIf(operation_name in (${quoted(answers)}), 'answer', operation_name in (${quoted(agents)}), 'agent', 'embedding')`
  const columns = `trace_id, span_id, parent_span_id, ${kind} as kind, input_tokens, output_tokens, ${modelsSql(scope)} as models`
  const tellingAny = (selected: string) => telling(scope, [...requests, ...agents], selected)
  // Few spans have one of their kind right around them, and those are found by numbers sooner than by a join of all.
  const place = (id: string) => `xxh3(trace_id, ${id}, ${kind})`
  const toldBeside = (own: string, other: string) =>
    `${tellingAny(columns)} and ${place(own)} in (${tellingAny(place(other))})`
  const isSame = "(empty(outer.models) or empty(inner.models) or hasAny(outer.models, inner.models))"
  const isRequest = "any(outer.kind) != 'agent'"
  return `select trace_id, arrayJoin(if(outer_repeats, [outer_id], less)) as span_id from (
      select outer.trace_id as trace_id, outer.span_id as outer_id,
        any(outer.input_tokens) as input, any(outer.output_tokens) as output,
        max(inner.input_tokens = outer.input_tokens and inner.output_tokens = outer.output_tokens)
          or (sum(inner.input_tokens) = input and sum(inner.output_tokens) = output)
          or (${isRequest} and sumIf(inner.input_tokens + inner.output_tokens, ${isSame}) >= input + output) as outer_repeats,
        if(${isRequest}, groupArrayIf(inner.span_id, ${isSame}), []) as less
      from (${toldBeside("parent_span_id", "span_id")}) as inner
      join (${toldBeside("span_id", "parent_span_id")}) as outer
        on outer.trace_id = inner.trace_id and outer.span_id = inner.parent_span_id and outer.kind = inner.kind
      where inner.span_id != outer.span_id
      group by outer.trace_id, outer.span_id)`
}

/** What a span names its model, without who provides it and without the version that answered. */
function modelsSql({ parameters }: CountedScope): string {
  const without = (text: string, pattern: RegExp) =>
    `replaceRegexpOne(${text}, ${parameters.bind(pattern.source, "String")}, '')`
  // Of the columns, and not of their texts: ClickHouse then does it once for each name.
  const name = (column: string) =>
    `toString(${without(without(without(`lower(${column})`, /^.*\//), latest), version)})`
  return `arrayFilter(name -> name != '', [${name("request_model")}, ${name("response_model")}])`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(", ")
}
