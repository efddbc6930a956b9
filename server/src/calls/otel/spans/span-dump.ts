/**
 * A span as JSON text, everything of it kept: what a call shows as `attributes.otel_span`
 * (evaluation-store-calls 3.1, 8). Attributes are nested by the dots of their names, and strings
 * stay strings whatever they hold, so that the span can be read back and mapped again.
 */
import type { KeyValue } from "../otlp/any-value.ts"
import { attributeTree, type AttributeTree, jsonOfNode, rawForm } from "./attribute-tree.ts"
import {
  type Resource,
  type Scope,
  type Span,
  type SpanEvent,
  spanKinds,
  type SpanLink,
  statusCodes,
} from "../trace-request.ts"
import { nanosecondTime } from "./span-times.ts"

/** The part that all spans of a resource share. */
export function resourceText({ attributes, droppedAttributesCount }: Resource): string {
  return `{"attributes":${attributesText(attributes)}${dropped("attributes", droppedAttributesCount)}}`
}

/** The part that all spans of a scope share: members of the object, made once. `resource`: of {@link resourceText}. */
export function sourceText(resource: string, scope: Scope): string {
  const name = `{"name":${JSON.stringify(scope.name)},"version":${JSON.stringify(scope.version)},"attributes":${attributesText(scope.attributes)}}`
  return `"resource":${resource},"scope":${name}`
}

/** `source`: of {@link sourceText}. `tree`: of the span's attributes. */
export function spanText(span: Span, tree: AttributeTree, source: string): string {
  const { traceId, spanId, parentSpanId } = span
  const context = `{"trace_id":"${traceId}","span_id":"${spanId}","trace_state":${JSON.stringify(span.traceState)}}`
  const parent = parentSpanId === "" ? "null" : `"${parentSpanId}"`
  const status = `{"code":"${statusCodes[span.status.code] ?? span.status.code}","message":${JSON.stringify(span.status.message)}}`
  const times = `"start_time":"${nanosecondTime(span.startTimeUnixNano)}","end_time":"${nanosecondTime(span.endTimeUnixNano)}"`
  const events = `[${span.events.map(eventText).join(",")}]${dropped("events", span.droppedEventsCount)}`
  const links = `[${span.links.map(linkText).join(",")}]${dropped("links", span.droppedLinksCount)}`
  const flags = span.flags === 0 ? "" : `,"flags":${span.flags}`
  const kind = `"${spanKinds[span.kind] ?? span.kind}"`
  const attributes = `${jsonOfNode(tree, rawForm)}${dropped("attributes", span.droppedAttributesCount)}`
  return `{"name":${JSON.stringify(span.name)},"context":${context},"kind":${kind},"parent_id":${parent}${flags},${times},"status":${status},"attributes":${attributes},"events":${events},"links":${links},${source}}`
}

function eventText({ name, timeUnixNano, attributes, droppedAttributesCount }: SpanEvent): string {
  const time = nanosecondTime(timeUnixNano)
  return `{"name":${JSON.stringify(name)},"timestamp":"${time}","attributes":${attributesText(attributes)}${dropped("attributes", droppedAttributesCount)}}`
}

function linkText({ traceId, spanId, traceState, attributes, droppedAttributesCount, flags }: SpanLink): string {
  const context = JSON.stringify({ trace_id: traceId, span_id: spanId, trace_state: traceState })
  const rest = `"attributes":${attributesText(attributes)}${dropped("attributes", droppedAttributesCount)}`
  return `{"context":${context},${rest}${flags === 0 ? "" : `,"flags":${flags}`}}`
}

function attributesText(attributes: readonly KeyValue[]): string {
  return attributes.length === 0 ? "{}" : jsonOfNode(attributeTree(attributes), rawForm)
}

/** The member that says how many the client left out; nothing when it is none. */
function dropped(what: string, count: number): string {
  return count === 0 ? "" : `,"dropped_${what}_count":${count}`
}
