/** Spans from protobuf: field numbers of opentelemetry/proto/trace/v1/trace.proto. */
import { field, readKeyValue } from "./protobuf-fields.ts"
import type { ProtobufReader } from "./protobuf-reader.ts"
import { emptySpan, type Span, type SpanEvent, type SpanLink, type SpanStatus } from "../trace-request.ts"

const readSpanField: Readonly<Record<number, (span: Span, reader: ProtobufReader) => void>> = {
  [field(1).bytes]: (span, reader) => (span.traceId = reader.hexadecimal()),
  [field(2).bytes]: (span, reader) => (span.spanId = reader.hexadecimal()),
  [field(3).bytes]: (span, reader) => (span.traceState = reader.text()),
  [field(4).bytes]: (span, reader) => (span.parentSpanId = reader.hexadecimal()),
  [field(5).bytes]: (span, reader) => (span.name = reader.text()),
  [field(6).varint]: (span, reader) => (span.kind = reader.uint32()),
  [field(7).fixed64]: (span, reader) => (span.startTimeUnixNano = reader.fixed64()),
  [field(8).fixed64]: (span, reader) => (span.endTimeUnixNano = reader.fixed64()),
  [field(9).bytes]: (span, reader) => span.attributes.push(reader.message(readKeyValue)),
  [field(10).varint]: (span, reader) => (span.droppedAttributesCount = reader.uint32()),
  [field(11).bytes]: (span, reader) => span.events.push(reader.message(readEvent)),
  [field(12).varint]: (span, reader) => (span.droppedEventsCount = reader.uint32()),
  [field(13).bytes]: (span, reader) => span.links.push(reader.message(readLink)),
  [field(14).varint]: (span, reader) => (span.droppedLinksCount = reader.uint32()),
  [field(15).bytes]: (span, reader) => (span.status = reader.message(readStatus)),
  [field(16).fixed32]: (span, reader) => (span.flags = reader.fixed32()),
}

export function readSpan(reader: ProtobufReader): Span {
  const span = emptySpan()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const read = readSpanField[tag]
    if (read === undefined) reader.skip(tag)
    else read(span, reader)
  }
  return span
}

const eventTags = { time: field(1).fixed64, name: field(2).bytes, attributes: field(3).bytes, dropped: field(4).varint }

function readEvent(reader: ProtobufReader): SpanEvent {
  const event: SpanEvent = { timeUnixNano: 0n, name: "", attributes: [], droppedAttributesCount: 0 }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === eventTags.time) event.timeUnixNano = reader.fixed64()
    else if (tag === eventTags.name) event.name = reader.text()
    else if (tag === eventTags.attributes) event.attributes.push(reader.message(readKeyValue))
    else if (tag === eventTags.dropped) event.droppedAttributesCount = reader.uint32()
    else reader.skip(tag)
  }
  return event
}

const linkTags = {
  traceId: field(1).bytes,
  spanId: field(2).bytes,
  traceState: field(3).bytes,
  attributes: field(4).bytes,
  dropped: field(5).varint,
  flags: field(6).fixed32,
}

function readLink(reader: ProtobufReader): SpanLink {
  const link: SpanLink = {
    traceId: "",
    spanId: "",
    traceState: "",
    attributes: [],
    droppedAttributesCount: 0,
    flags: 0,
  }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === linkTags.traceId) link.traceId = reader.hexadecimal()
    else if (tag === linkTags.spanId) link.spanId = reader.hexadecimal()
    else if (tag === linkTags.traceState) link.traceState = reader.text()
    else if (tag === linkTags.attributes) link.attributes.push(reader.message(readKeyValue))
    else if (tag === linkTags.dropped) link.droppedAttributesCount = reader.uint32()
    else if (tag === linkTags.flags) link.flags = reader.fixed32()
    else reader.skip(tag)
  }
  return link
}

const statusTags = { message: field(2).bytes, code: field(3).varint }

function readStatus(reader: ProtobufReader): SpanStatus {
  const status: SpanStatus = { code: 0, message: "" }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === statusTags.message) status.message = reader.text()
    else if (tag === statusTags.code) status.code = reader.uint32()
    else reader.skip(tag)
  }
  return status
}
