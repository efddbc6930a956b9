/**
 * Whose tokens a total counts: evaluation-store-calls 10.
 *
 * Many instrumentations write what a whole run used on the span of the agent, or of a step of it, and on the spans of the
 * requests inside of it too: a plain sum counts a request once for each such span around it. So where a trace tells what
 * its requests used, only these count; where it does not, what the others say is all there is.
 */

/** Operations that ask a model, as the conventions of OpenTelemetry name them. */
const requests = ["chat", "generate_content", "text_completion", "embeddings"]
/** Those without which an agent cannot run: embeddings alone say nothing of what its model used. */
export const answers = requests.filter((operation) => operation !== "embeddings")

/** SQL, an aggregate over the spans of one trace: whether it tells what its requests used. */
export const tellsRequestsSql = `max(operation_name in (${quoted(answers)}) and (input_tokens > 0 or output_tokens > 0))`

/** SQL: whether a total counts the span. `tellsRequests`: {@link tellsRequestsSql} of its trace. */
export function isCountedSql(operation: string, tellsRequests: string): string {
  return `(${tellsRequests} = 0 or ${operation} in (${quoted(requests)}))`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(", ")
}

interface UsageSpan {
  operation_name: string | null
  input_tokens: number | null
  output_tokens: number | null
}

/** Those of one trace, or of a part of it, that its totals count. */
export function countedSpans<Span extends UsageSpan>(spans: readonly Span[]): readonly Span[] {
  const has = (operations: readonly string[], { operation_name }: UsageSpan) =>
    operations.includes(operation_name ?? "")
  const tellsRequests = spans.some(
    (span) => has(answers, span) && ((span.input_tokens ?? 0) > 0 || (span.output_tokens ?? 0) > 0),
  )
  return tellsRequests ? spans.filter((span) => has(requests, span)) : spans
}
