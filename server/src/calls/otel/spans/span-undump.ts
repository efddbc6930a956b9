/** Reads a span back from its text (`span-dump.ts`), as far as mapping it to a call needs it. */
import { parseExact } from "../../../json/exact-json.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { microsecondsOf } from "../../../storage/traces/query/sql-time.ts"
import { type AnyValue, type KeyValue, KeyValueList } from "../otlp/any-value.ts"
import { emptySpan, type Span, type SpanEvent, statusCodes } from "../trace-request.ts"

/** null: the text is no span of ours, such as an `otel_dump` that a client wrote itself. */
export function spanOf(text: string): Span | null {
  const dump = parseExact(text)
  if (!isJsonObject(dump) || !isJsonObject(dump["context"]) || !isJsonObject(dump["attributes"])) return null
  const { name, context, status, events } = dump
  const start = timeOf(dump["start_time"])
  const end = timeOf(dump["end_time"])
  if (start === null || end === null || typeof name !== "string" || !isJsonObject(status)) return null
  return {
    ...emptySpan(),
    traceId: String(context["trace_id"]),
    spanId: String(context["span_id"]),
    name,
    startTimeUnixNano: start,
    endTimeUnixNano: end,
    attributes: attributesOf(dump["attributes"], ""),
    events: Array.isArray(events) ? events.filter(isJsonObject).map(eventOf) : [],
    status: {
      code: Math.max(0, statusCodes.indexOf(status["code"] as (typeof statusCodes)[number])),
      message: typeof status["message"] === "string" ? status["message"] : "",
    },
  }
}

type Members = Readonly<Record<string, unknown>>

/** Nanoseconds since 1970, to the microsecond; null: not a time. */
function timeOf(value: unknown): bigint | null {
  const microseconds = typeof value === "string" ? microsecondsOf(value) : null
  return microseconds === null ? null : microseconds * 1000n
}

function eventOf(event: Members): SpanEvent {
  const attributes = isJsonObject(event["attributes"]) ? attributesOf(event["attributes"], "") : []
  return { timeUnixNano: 0n, name: String(event["name"]), attributes, droppedAttributesCount: 0 }
}

/** The names joined again by dots; what was nested in a value stays the same to whoever looks names up. */
function attributesOf(members: Members, prefix: string): KeyValue[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const key = prefix + name
    if (!isJsonObject(value) || Object.keys(value).length === 0) return [{ key, value: valueOf(value) }]
    return attributesOf(value, `${key}.`)
  })
}

function valueOf(value: unknown): AnyValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (JSON.isRawJSON(value)) {
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON)
  }
  if (Array.isArray(value)) return value.map(valueOf)
  const entries = Object.entries(value as Members).map(([key, inner]) => ({ key, value: valueOf(inner) }))
  return new KeyValueList(entries)
}
