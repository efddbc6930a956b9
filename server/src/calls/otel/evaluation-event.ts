/**
 * `gen_ai.evaluation.result` events (OpenTelemetry's semantic conventions for generative AI): the
 * score of the operation whose span they are in.
 */
import { HeddleError } from "../../errors.ts"
import { type AttributePath, firstFound, pathsOf, textOf } from "./spans/attribute-lookup.ts"
import { attributeTree, type AttributeTree, jsonOfNode, Leaf, rawForm } from "./spans/attribute-tree.ts"
import type { LogRecord } from "./log-record.ts"
import { nanosecondTime } from "./spans/span-times.ts"

const eventName = "gen_ai.evaluation.result"

const paths = {
  event: pathsOf(["event.name"]),
  name: pathsOf(["gen_ai.evaluation.name"]),
  score: pathsOf(["gen_ai.evaluation.score.value"]),
  label: pathsOf(["gen_ai.evaluation.score.label"]),
  explanation: pathsOf(["gen_ai.evaluation.explanation"]),
  error: pathsOf(["error.type"]),
}

export interface EvaluationResult {
  /** As it came. */
  name: string
  spanId: string
  /** null: it has only a label, or is no finite number. */
  score: number | null
  explanation: string | null
  /** JSON text: what the evaluation gave, and the event as it came. */
  payload: string
}

/** null: the record is something else. @throws {HeddleError} `value_error` for an event that says too little. */
export function evaluationResult(record: LogRecord): EvaluationResult | null {
  const tree = attributeTree(record.attributes)
  const text = (wanted: readonly AttributePath[]) => textOf(firstFound([tree], wanted))
  if ((record.eventName || text(paths.event)) !== eventName) return null
  const name = text(paths.name)
  if (name === null) throw incomplete("it has no gen_ai.evaluation.name")
  if (!/^[0-9a-f]{16}$/.test(record.spanId) || /^0+$/.test(record.spanId)) {
    throw incomplete(`its span id "${record.spanId.slice(0, 32)}" is not 8 bytes; emit it in the span that it scores`)
  }
  return {
    name,
    spanId: record.spanId,
    score: scoreOf(tree),
    explanation: text(paths.explanation),
    payload: payloadText(record, tree),
  }
}

function scoreOf(tree: AttributeTree): number | null {
  const node = firstFound([tree], paths.score)?.node
  const value = node instanceof Leaf ? node.value : null
  const score = typeof value === "bigint" || typeof value === "number" ? Number(value) : Number.NaN
  return Number.isFinite(score) ? score : null
}

function payloadText(record: LogRecord, tree: AttributeTree): string {
  const output = (["score", "label", "explanation", "error"] as const).flatMap((part) => {
    const found = firstFound([tree], paths[part])
    return found === null ? [] : [`"${part}":${jsonOfNode(found.node, rawForm)}`]
  })
  const time = record.timeUnixNano === 0n ? record.observedTimeUnixNano : record.timeUnixNano
  const event = `{"trace_id":${JSON.stringify(record.traceId)},"time":"${nanosecondTime(time)}","attributes":${jsonOfNode(tree, rawForm)}}`
  return `{"output":{${output.join(",")}},"otel_event":${event}}`
}

function incomplete(fault: string): HeddleError {
  return new HeddleError("value_error", `an event ${eventName} is not stored: ${fault}`)
}
