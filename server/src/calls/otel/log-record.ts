/** Log records of OTLP, from protobuf (opentelemetry/proto/logs/v1/logs.proto) and JSON. */
import type { AnyValue, KeyValue } from "./otlp/any-value.ts"
import type { JsonMessage } from "./otlp/otlp-json.ts"
import { field, readKeyValue, readValue } from "./otlp/protobuf-fields.ts"
import type { ProtobufReader } from "./otlp/protobuf-reader.ts"

/** The fields of a log record that are used. */
export interface LogRecord {
  /** Nanoseconds since 1970; 0: not set. */
  timeUnixNano: bigint
  observedTimeUnixNano: bigint
  body: AnyValue
  attributes: KeyValue[]
  /** Hexadecimal, lower case; `""`: not of a trace. */
  traceId: string
  spanId: string
  /** `""`: it is no event, or the name is in the attribute `event.name`. */
  eventName: string
}

const tags = {
  time: field(1).fixed64,
  body: field(5).bytes,
  attributes: field(6).bytes,
  traceId: field(9).bytes,
  spanId: field(10).bytes,
  observedTime: field(11).fixed64,
  eventName: field(12).bytes,
}

export function readLogRecord(reader: ProtobufReader): LogRecord {
  const record: LogRecord = {
    timeUnixNano: 0n,
    observedTimeUnixNano: 0n,
    body: null,
    attributes: [],
    traceId: "",
    spanId: "",
    eventName: "",
  }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.time) record.timeUnixNano = reader.fixed64()
    else if (tag === tags.observedTime) record.observedTimeUnixNano = reader.fixed64()
    else if (tag === tags.body) record.body = reader.message((inner) => readValue(inner, 1))
    else if (tag === tags.attributes) record.attributes.push(reader.message(readKeyValue))
    else if (tag === tags.traceId) record.traceId = reader.hexadecimal()
    else if (tag === tags.spanId) record.spanId = reader.hexadecimal()
    else if (tag === tags.eventName) record.eventName = reader.text()
    else reader.skip(tag)
  }
  return record
}

/** @throws {HeddleError} `bad_request` that names the place and the value. */
export function jsonLogRecord(message: JsonMessage): LogRecord {
  return {
    timeUnixNano: message.time("timeUnixNano"),
    observedTimeUnixNano: message.time("observedTimeUnixNano"),
    body: message.message(
      "body",
      (one) => one.anyValue(1),
      () => null,
    ),
    attributes: message.attributes(),
    traceId: message.hexadecimal("traceId"),
    spanId: message.hexadecimal("spanId"),
    eventName: message.text("eventName"),
  }
}
