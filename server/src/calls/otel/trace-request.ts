/** An `ExportTraceServiceRequest` of OTLP 1.x, from either encoding; names as in opentelemetry-proto. */
import type { KeyValue } from "./otlp/any-value.ts"

export interface ResourceSpans {
  resource: Resource
  scopeSpans: ScopeSpans[]
}

export interface Resource {
  attributes: KeyValue[]
  droppedAttributesCount: number
}

export interface ScopeSpans {
  scope: Scope
  spans: Span[]
}

export interface Scope {
  name: string
  version: string
  attributes: KeyValue[]
}

export interface Span {
  /** Hexadecimal, lower case; checked where it is stored. */
  traceId: string
  spanId: string
  /** `""`: none. */
  parentSpanId: string
  traceState: string
  flags: number
  name: string
  /** See {@link spanKinds}. */
  kind: number
  /** Nanoseconds since 1970; 0: not set. */
  startTimeUnixNano: bigint
  endTimeUnixNano: bigint
  attributes: KeyValue[]
  droppedAttributesCount: number
  events: SpanEvent[]
  droppedEventsCount: number
  links: SpanLink[]
  droppedLinksCount: number
  status: SpanStatus
}

export interface SpanEvent {
  timeUnixNano: bigint
  name: string
  attributes: KeyValue[]
  droppedAttributesCount: number
}

export interface SpanLink {
  traceId: string
  spanId: string
  traceState: string
  attributes: KeyValue[]
  droppedAttributesCount: number
  flags: number
}

export interface SpanStatus {
  /** See {@link statusCodes}. */
  code: number
  message: string
}

/** By their numbers. */
export const spanKinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"] as const
export const statusCodes = ["UNSET", "OK", "ERROR"] as const
export const statusError = 2

export function emptyResource(): Resource {
  return { attributes: [], droppedAttributesCount: 0 }
}

export function emptyScope(): Scope {
  return { name: "", version: "", attributes: [] }
}

export function emptySpan(): Span {
  return {
    traceId: "",
    spanId: "",
    parentSpanId: "",
    traceState: "",
    flags: 0,
    name: "",
    kind: 0,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 0n,
    attributes: [],
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: { code: 0, message: "" },
  }
}
