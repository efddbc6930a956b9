/** Writes OpenTelemetry's `ExportTraceServiceRequest` in protobuf, for spans with text attributes only. */

export interface OtlpSpan {
  /** 16 bytes. */
  traceId: Buffer
  /** 8 bytes. */
  spanId: Buffer
  parentSpanId: Buffer | null
  name: string
  startedAt: Date
  seconds: number
  attributes: Readonly<Record<string, string | number>>
}

/** Field numbers are those of opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto. */
export function traceRequest(serviceName: string, spans: readonly OtlpSpan[]): Buffer {
  const scopeSpans = Buffer.concat([message(1, text(1, "bench")), ...spans.map((span) => message(2, spanFields(span)))])
  const resource = message(1, keyValue("service.name", serviceName))
  return message(1, Buffer.concat([message(1, resource), message(2, scopeSpans)]))
}

const internalKind = 1
const statusOk = 1

function spanFields(span: OtlpSpan): Buffer {
  const start = BigInt(span.startedAt.getTime()) * 1_000_000n
  return Buffer.concat([
    message(1, span.traceId),
    message(2, span.spanId),
    ...(span.parentSpanId === null ? [] : [message(4, span.parentSpanId)]),
    text(5, span.name),
    integer(6, internalKind),
    fixed64(7, start),
    fixed64(8, start + BigInt(Math.round(span.seconds * 1e9))),
    ...Object.entries(span.attributes).map(([key, value]) => message(9, keyValue(key, value))),
    message(15, integer(3, statusOk)),
  ])
}

function keyValue(key: string, value: string | number): Buffer {
  return Buffer.concat([text(1, key), message(2, typeof value === "string" ? text(1, value) : integer(3, value))])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

const integer = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)])

function fixed64(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint(field * 8 + 1), bytes])
}

const message = (field: number, bytes: Buffer) => Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
const text = (field: number, value: string) => message(field, Buffer.from(value))
