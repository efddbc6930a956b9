/** Makes OTLP messages for tests, from protobuf fields, and as OTLP/JSON. */

type Content = Buffer | string | readonly Buffer[]

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

/** A field with a length: text, bytes or a message of fields. */
export function bytesField(number: number, content: Content): Buffer {
  const bytes = Array.isArray(content) ? Buffer.concat(content) : Buffer.from(content as string)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

export const varintField = (number: number, value: number) => Buffer.concat([varint(number * 8), varint(value)])

export function timeField(number: number, nanoseconds: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(nanoseconds)
  return Buffer.concat([varint(number * 8 + 1), bytes])
}

/** The fields of an attribute whose `AnyValue` is a text. */
export const textAttribute = (key: string, value: string) => [bytesField(1, key), bytesField(2, bytesField(1, value))]

/** `ExportTraceServiceRequest` in protobuf with one resource of text attributes; each span is its fields. */
export function protobufTraces(resource: Record<string, string>, spans: readonly Buffer[][]): Buffer {
  const attributes = Object.entries(resource).map(([key, value]) => bytesField(1, textAttribute(key, value)))
  return bytesField(1, [
    bytesField(1, attributes),
    bytesField(
      2,
      spans.map((span) => bytesField(2, span)),
    ),
  ])
}

/** 2026-01-02T03:04:05.123456789Z in nanoseconds since 1970. */
export const spanStart = 1_767_323_045_123_456_789n

/** The protobuf fields that every span has. */
export function spanFields(traceId: string, spanId: string, name: string): Buffer[] {
  return [
    bytesField(1, Buffer.from(traceId, "hex")),
    bytesField(2, Buffer.from(spanId, "hex")),
    bytesField(5, name),
    timeField(7, spanStart),
    timeField(8, spanStart + 1_500_000_000n),
  ]
}

export type JsonValue = Record<string, unknown>

/** Attributes in OTLP/JSON: a bigint becomes an integer, a number a double; an object is already an `AnyValue`. */
export function jsonAttributes(attributes: Record<string, string | bigint | number | boolean | JsonValue>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: string | bigint | number | boolean | JsonValue): JsonValue {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "bigint") return { intValue: String(value) }
  if (typeof value === "number") return { doubleValue: value }
  return typeof value === "boolean" ? { boolValue: value } : value
}

/** A span as OTLP/JSON. */
export function jsonSpan(
  traceId: string,
  spanId: string,
  attributes: Parameters<typeof jsonAttributes>[0] = {},
  more: object = {},
): object {
  return {
    traceId,
    spanId,
    name: "chat",
    kind: 3,
    startTimeUnixNano: String(spanStart),
    endTimeUnixNano: String(spanStart + 1_500_000_000n),
    attributes: jsonAttributes(attributes),
    ...more,
  }
}

export function jsonTraces(...spans: object[]): object {
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: "tests", version: "1" }, spans }] }] }
}
