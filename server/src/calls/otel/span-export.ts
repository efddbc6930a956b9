/** Handling shared by all exports of spans: evaluation-store-calls 8 and 10. */
import { HeddleError } from "../../errors.ts"
import type { PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import { ExportOutcome } from "./otlp/otlp-answer.ts"
import { spansOf, traceBody } from "./otlp/otlp-encoding.ts"
import type { OtlpInput, Outcome, SpanOwner } from "./otlp/otlp-input.ts"
import { ResourceOwners } from "./resource-owners.ts"
import { resourceText, sourceText } from "./spans/span-dump.ts"
import { cannotStore } from "./spans/span-rows.ts"
import { findExcess } from "./spans/span-rules.ts"
import type { ResourceSpans, Span } from "./trace-request.ts"

export interface SpanSink {
  /** `source`: of the span's resource and scope, see `sourceText`. @throws {HeddleError} for a span that cannot be stored. */
  add: (span: Span, source: string, owner: SpanOwner) => void
  /** Bytes of what was added. */
  readonly size: number
}

/**
 * Hands every span that may be stored to the sink that `open` makes; the outcome tells what may not.
 * @throws {HeddleError} when that is all of it, or when it is too much.
 */
export function* exportSpans<S extends SpanSink>(
  { bytes, contentType, naming, limits }: OtlpInput,
  open: (spans: number) => S,
): Generator<PayloadLookup, { sink: S; outcome: Outcome }> {
  const body = traceBody(bytes, contentType)
  const owners = new ResourceOwners(naming)
  yield* owners.find(body.resources, false)
  const all = spansOf(body, limits).filter((one) => countOf(one) > 0)
  yield* owners.find(
    all.map(({ resource }) => resource),
    true,
  )
  const outcome = new ExportOutcome()
  const sink = open(all.reduce((sum, one) => sum + countOf(one), 0))
  for (const one of all) addSpans(one, owners, sink, outcome, limits)
  outcome.assertAnyAccepted()
  return { sink, outcome: outcome.toPlain() }
}

function addSpans(
  one: ResourceSpans,
  owners: ResourceOwners,
  sink: SpanSink,
  outcome: ExportOutcome,
  { attributes, storedBytes }: OtlpInput["limits"],
): void {
  const owner = outcome.needed(countOf(one), () => owners.of(one.resource))
  if (owner === null) return
  const resource = resourceText(one.resource)
  for (const { scope, spans } of one.scopeSpans) {
    const source = sourceText(resource, scope)
    for (const span of spans) {
      try {
        const excess = findExcess(span, attributes)
        if (excess !== null) throw cannotStore(span, excess)
        sink.add(span, source, owner)
        outcome.accept()
      } catch (error) {
        outcome.reject(error)
      }
      if (sink.size > storedBytes) throw tooManyBytes(storedBytes)
    }
  }
}

function countOf({ scopeSpans }: ResourceSpans): number {
  return scopeSpans.reduce((sum, { spans }) => sum + spans.length, 0)
}

/** Each span is stored with all that its resource and its scope say. */
function tooManyBytes(most: number): HeddleError {
  const message = `the spans of the request take more than ${most} bytes where they are stored; send them in smaller batches`
  return new HeddleError("payload_too_large", message)
}
