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
  const told = (columns: string) => telling(scope, [...requests, ...agents], columns)
  // Each span stands once where it is and once where its parent is: those that meet are one right inside the other.
  const places =
    "arrayJoin([(span_id, true), (parent_span_id, false)]) as place, place.1 as around, place.2 as is_outer"
  // Few spans have one of their kind right around them, and those are found by numbers sooner than by their ids.
  const number = "xxh3(trace_id, around, kind)"
  const isShared = "max(is_outer) and not min(is_outer)"
  const shared = `select ${number} from (${told(`trace_id, ${kind} as kind, ${places}`)}) group by ${number} having ${isShared}`
  const columns = `trace_id, span_id, ${kind} as kind, input_tokens as input, output_tokens as output, request_model, response_model, ${places}`
  const asked = `${modelSql("request_model", scope)} as asked, ${modelSql("response_model", scope)} as answered`
  const known = ["input", "output", "asked", "answered"]
  const outer = known.map((column) => `anyIf(${column}, is_outer) as outer_${column}`)
  const inner = ["span_id", ...known].map((column) => `groupArrayIf(${column}, not is_outer) as inner_${column}`)
  const isRequest = "kind != 'agent'"
  return `select trace_id, arrayJoin(if(outer_repeats, [around], less)) as span_id from (
      select trace_id, around, ${[...outer, ...inner].join(", ")},
        arrayMap((a, b) -> ${sameModel}, inner_asked, inner_answered) as same,
        arrayExists((i, o) -> i = outer_input and o = outer_output, inner_input, inner_output)
          or (arraySum(inner_input) = outer_input and arraySum(inner_output) = outer_output)
          or (${isRequest} and arraySum((i, o, s) -> if(s, i + o, 0), inner_input, inner_output, same)
            >= outer_input + outer_output) as outer_repeats,
        if(${isRequest}, arrayFilter((id, s) -> s, inner_span_id, same), []) as less
      from (
        select *, ${asked} from (${told(columns)})
        where (is_outer or around != span_id) and ${number} in (${shared}))
      group by trace_id, around, kind having ${isShared})`
}

/** SQL: whether a span inside, which asked `a` and had an answer of `b`, names a model as the outer one does; or one names none. */
const sameModel = `((outer_asked = 0 and outer_answered = 0) or (a = 0 and b = 0)
  or (a != 0 and a in (outer_asked, outer_answered)) or (b != 0 and b in (outer_asked, outer_answered)))`

/** SQL: a number for what a span names its model, without who provides it and without the version that answered; 0: nothing. */
function modelSql(column: string, { parameters }: CountedScope): string {
  const without = (text: string, pattern: RegExp) =>
    `replaceRegexpOne(${text}, ${parameters.bind(pattern.source, "String")}, '')`
  // Of the column, and not of its text: ClickHouse then does it once for each name.
  return `if(${column} = '', 0, xxh3(${without(without(without(`lower(${column})`, /^.*\//), latest), version)}))`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(", ")
}
