/** Spans from OTLP/JSON. */
import type { JsonMessage } from "./otlp-json.ts"
import { type Span, type SpanEvent, spanKinds, type SpanLink, statusCodes } from "../trace-request.ts"

/** @throws {HeddleError} `bad_request` that names the place and the value. */
export function jsonSpan(message: JsonMessage): Span {
  return {
    traceId: message.hexadecimal("traceId"),
    spanId: message.hexadecimal("spanId"),
    parentSpanId: message.hexadecimal("parentSpanId"),
    traceState: message.text("traceState"),
    flags: message.count("flags"),
    name: message.text("name"),
    kind: message.enumeration("kind", "SPAN_KIND_", spanKinds),
    startTimeUnixNano: message.time("startTimeUnixNano"),
    endTimeUnixNano: message.time("endTimeUnixNano"),
    attributes: message.attributes(),
    droppedAttributesCount: message.count("droppedAttributesCount"),
    events: message.list("events", readEvent),
    droppedEventsCount: message.count("droppedEventsCount"),
    links: message.list("links", readLink),
    droppedLinksCount: message.count("droppedLinksCount"),
    status: message.message("status", readStatus, () => ({ code: 0, message: "" })),
  }
}

function readEvent(message: JsonMessage): SpanEvent {
  return {
    timeUnixNano: message.time("timeUnixNano"),
    name: message.text("name"),
    attributes: message.attributes(),
    droppedAttributesCount: message.count("droppedAttributesCount"),
  }
}

function readLink(message: JsonMessage): SpanLink {
  return {
    traceId: message.hexadecimal("traceId"),
    spanId: message.hexadecimal("spanId"),
    traceState: message.text("traceState"),
    attributes: message.attributes(),
    droppedAttributesCount: message.count("droppedAttributesCount"),
    flags: message.count("flags"),
  }
}

function readStatus(message: JsonMessage) {
  return { code: message.enumeration("code", "STATUS_CODE_", statusCodes), message: message.text("message") }
}
