/** Stored rows of spans: every span is a call that starts and ends in one row (evaluation-store-calls 8). */
import { HeddleError } from "../../../errors.ts"
import { type CallBatch, CallBatchBuilder, type CallTexts } from "../../../storage/traces/calls/insert/call-batch.ts"
import { shrink } from "../../write/call-rows.ts"
import { attributeTree, type AttributeTree } from "./attribute-tree.ts"
import type { SpanOwner } from "../otlp/otlp-input.ts"
import { spanText } from "./span-dump.ts"
import { type MappedSpan, mapSpan } from "./span-mapping.ts"
import { displayNameOf, opNameOf, parentOf, spanName } from "./span-rules.ts"
import { storedMicroseconds } from "./span-times.ts"
import type { Span } from "../trace-request.ts"

/** Expected size of a row, in which a span's attributes appear twice. */
const expectedBytes = 4096
const exceedsLimits = '{"_weave":{"error":"<EXCEEDS_LIMITS>"}}'

export class SpanRows {
  readonly #rows: CallBatchBuilder

  /** `bytes`: of the request. */
  constructor(spans: number, bytes: number) {
    this.#rows = new CallBatchBuilder(Math.min(spans * expectedBytes, 3 * bytes))
  }

  /** Bytes added so far. */
  get size(): number {
    return this.#rows.size
  }

  /**
   * @param tree of the span's attributes.
   * @param source of the span's resource and scope; see `sourceText`.
   * @throws {HeddleError} `value_error` or `insert_too_large` for a span that cannot be stored.
   */
  add(span: Span, tree: AttributeTree, source: string, project: SpanOwner): void {
    const mapped = mapSpan(span, tree)
    const texts = textsOf(span, mapped, project)
    const [attributes, inputs, output, summary, otel_dump] = shrunk(
      [mapped.attributes, mapped.inputs, mapped.output, mapped.summary, spanText(span, tree, source)],
      span,
    )
    const payloads = { attributes, inputs, output, summary, otel_dump }
    this.#rows.add({ projectId: project.id, id: span.spanId }, texts, payloads, { isOdd: mapped.holdsUnreadable })
  }

  /** Only what is mapped from attributes, of a span that is stored; its name may have been changed since. */
  addMapping(span: Span, sortTime: number, project: SpanOwner): void {
    const mapped = mapSpan(span, attributeTree(span.attributes))
    const [attributes, inputs, output, summary] = shrunk(
      [mapped.attributes, mapped.inputs, mapped.output, mapped.summary],
      span,
    )
    const facts = { isOdd: mapped.holdsUnreadable, isKnown: true }
    const key = { projectId: project.id, id: span.spanId, sortTime }
    this.#rows.add(key, threadOf(mapped, span), { attributes, inputs, output, summary }, facts)
  }

  /** The rows added so far, to be stored together. */
  batch(): CallBatch {
    return this.#rows.batch()
  }
}

function shrunk<T extends string[]>(payloads: [...T], { spanId }: Span): [...T] {
  shrink<string>(payloads, exceedsLimits, 0, spanId)
  return payloads
}

function threadOf({ threadId, isTurn }: MappedSpan, { spanId }: Span): CallTexts {
  if (threadId === null) return {}
  return { thread_id: threadId, ...(isTurn ? { turn_id: spanId } : {}) }
}

/** A null clears the value of an earlier export. */
function textsOf(span: Span, mapped: MappedSpan, project: SpanOwner): CallTexts {
  const texts: CallTexts = {
    trace_id: span.traceId,
    started_at: storedSpanTime(mapped.startedAt, span, "start"),
    op_name: opNameOf(span),
    exception: mapped.exception ?? "",
    wb_user_id: project.userId,
    ...threadOf(mapped, span),
  }
  const parent = parentOf(span)
  if (parent !== null) texts.parent_id = parent
  if (mapped.endedAt !== null) texts.ended_at = storedSpanTime(mapped.endedAt, span, "end")
  if (mapped.displayName !== null) texts.display_name = displayNameOf(mapped.displayName)
  if (mapped.runId !== null) texts.wb_run_id = runOf(mapped.runId, project)
  if (mapped.runStep !== null) texts.wb_run_step = mapped.runStep
  if (mapped.runStepEnd !== null) texts.wb_run_step_end = mapped.runStepEnd
  return texts
}

/** External form: `entity/project/run` (evaluation-store-calls 1.5). */
export function runOf(run: string, { name }: SpanOwner): string {
  return run.includes("/") ? run : `${name}/${run}`
}

export function storedSpanTime(microseconds: bigint, span: Span, which: "start" | "end"): string {
  const time = storedMicroseconds(microseconds)
  if (time === null) throw cannotStore(span, `its ${which} time is not between the years 1900 and 2299`)
  return time
}

export function cannotStore(span: Span, fault: string): HeddleError {
  return new HeddleError("value_error", `the span ${spanName(span)} is not stored: ${fault}`)
}
