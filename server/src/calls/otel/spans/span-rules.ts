/** Rules that a span must meet to be stored as a call: evaluation-store-calls 8 and 1.5. */
import { createHash } from "node:crypto"
import { codePoints } from "../../../json/code-points.ts"
import type { Span } from "../trace-request.ts"

const traceId = /^[0-9a-f]{32}$/
const spanId = /^[0-9a-f]{16}$/
const zeros = /^0+$/

/** The rule that the span breaks, or null. OpenTelemetry forbids ids of zeros. */
export function findFault(span: Span): string | null {
  if (!traceId.test(span.traceId) || zeros.test(span.traceId)) {
    return `its trace id "${formatted(span.traceId)}" is not 16 bytes, not all of them zero`
  }
  if (!spanId.test(span.spanId) || zeros.test(span.spanId)) {
    return `its span id "${formatted(span.spanId)}" is not 8 bytes, not all of them zero`
  }
  if (span.parentSpanId !== "" && !spanId.test(span.parentSpanId)) {
    return `its parent span id "${formatted(span.parentSpanId)}" is not 8 bytes`
  }
  if (span.startTimeUnixNano === 0n && span.endTimeUnixNano === 0n) return "it has no start time"
  return null
}

/** The limit that the span exceeds, or null. `most`: attributes, events and links. */
export function findExcess({ attributes, events, links }: Span, most: number): string | null {
  const lists = { attributes, events, links }
  for (const [what, list] of Object.entries(lists)) {
    if (list.length > most) return `it has ${list.length} ${what}; a span may have ${most}`
  }
  const large = [...events, ...links].find((part) => part.attributes.length > most)
  return large === undefined
    ? null
    : `one of its events or links has ${large.attributes.length} attributes; it may have ${most}`
}

/** null: a root. */
export function parentOf({ parentSpanId }: Span): string | null {
  return parentSpanId === "" || zeros.test(parentSpanId) ? null : parentSpanId
}

/** By which an error names a span. */
export function spanName({ name, traceId: trace, spanId: id }: Span): string {
  return `"${formatted(name)}" (trace ${formatted(trace)}, span ${formatted(id)})`
}

function formatted(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

const longestOpName = 128
const longestDisplayName = 1024
const unnamed = "unnamed"

/** A longer name ends in what tells it from others that begin like it. */
export function opNameOf({ name }: Span): string {
  return name === "" ? unnamed : shortened(name, longestOpName)
}

export function displayNameOf(name: string): string {
  return shortened(name, longestDisplayName)
}

function shortened(name: string, longest: number): string {
  if (name.length <= longest || codePoints(name) <= longest) return name
  const suffix = `:${createHash("sha256").update(name).digest("hex").slice(0, 4)}`
  const kept = Array.from(name.slice(0, 2 * longest)).slice(0, longest - suffix.length)
  return kept.join("") + suffix
}
