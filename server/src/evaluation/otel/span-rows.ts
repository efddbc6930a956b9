/** Stored rows of spans: every span is a call that starts and ends in one row (evaluation-store-calls 8). */
import { HeddleError } from "../../errors.ts"
import { placeLines } from "../../storage/traces/calls/call-places.ts"
import { oddJsonMember } from "../../storage/traces/calls/calls-tables.ts"
import type { CallBatch } from "../../storage/traces/calls/calls-write.ts"
import { shrink } from "../calls/call-rows.ts"
import { RowBuffer } from "../calls/row-buffer.ts"
import type { ProjectAccess } from "../project-access.ts"
import { attributeTree } from "./attribute-tree.ts"
import { spanText } from "./span-dump.ts"
import { type MappedSpan, mapSpan } from "./span-mapping.ts"
import { displayNameOf, findFault, opNameOf, parentOf, spanName } from "./span-rules.ts"
import { storedMicroseconds } from "./span-times.ts"
import type { Span } from "./trace-request.ts"

/** Of a row; a span's attributes stand in it twice. */
const expectedBytes = 4096
const exceedsLimits = '{"_weave":{"error":"<EXCEEDS_LIMITS>"}}'

export class SpanRows {
  readonly #rows: RowBuffer
  #places = ""

  constructor(spans: number) {
    this.#rows = new RowBuffer(spans * expectedBytes)
  }

  /**
   * @param source of the span's resource and scope; see `sourceText`.
   * @throws {HeddleError} `value_error` or `insert_too_large` for a span that cannot be stored.
   */
  add(span: Span, source: string, project: ProjectAccess): void {
    const fault = findFault(span)
    if (fault !== null) throw cannotStore(span, fault)
    const tree = attributeTree(span.attributes)
    const mapped = mapSpan(span, tree)
    const startedAt = storedSpanTime(mapped.startedAt, span, "start")
    const head = headText(span, mapped, startedAt, project)
    this.#write(head, [...payloadsOf(mapped), spanText(span, tree, source)], mapped, span)
    const { id: project_id } = project
    this.#places += placeLines({ project_id, trace_id: span.traceId, started_at: startedAt, id: span.spanId })
  }

  /** Only what is mapped from attributes, of a span that is stored; its name may have been changed since. */
  addMapping(span: Span, project: ProjectAccess): void {
    const mapped = mapSpan(span, attributeTree(span.attributes))
    const thread = JSON.stringify(threadOf(mapped, span)).slice(1, -1)
    const head = `{"project_id":"${project.id}","id":"${span.spanId}"${thread === "" ? "" : `,${thread}`}`
    this.#write(head, payloadsOf(mapped), mapped, span)
  }

  #write(head: string, payloads: string[], { holdsUnreadable }: MappedSpan, { spanId }: Span): void {
    shrink(payloads, exceedsLimits, Buffer.byteLength(head), spanId)
    const columns = payloads.map((text, index) => `,"${payloadColumns[index]}":[${text}]`)
    this.#rows.text(`${head}${columns.join("")}${holdsUnreadable ? oddJsonMember : ""}}\n`)
  }

  /** What was added, to be stored together. */
  batch(): CallBatch {
    return { rows: this.#rows.bytes(), places: Buffer.from(this.#places) }
  }
}

/** The raw span comes behind {@link payloadsOf}. */
const payloadColumns = ["attributes", "inputs", "output", "summary", "otel_dump"] as const

function payloadsOf({ attributes, inputs, output, summary }: MappedSpan): string[] {
  return [attributes, inputs, output, summary]
}

function threadOf({ threadId, isTurn }: MappedSpan, { spanId }: Span): { thread_id?: string; turn_id?: string } {
  if (threadId === null) return {}
  return { thread_id: threadId, ...(isTurn ? { turn_id: spanId } : {}) }
}

/** The ids have been checked: they hold nothing that JSON escapes. What is null clears what an earlier export said. */
function headText(span: Span, mapped: MappedSpan, startedAt: string, project: ProjectAccess): string {
  const ids = `"project_id":"${project.id}","id":"${span.spanId}","trace_id":"${span.traceId}"`
  const plain: Record<string, string | undefined> = {
    wb_user_id: project.userId,
    parent_id: parentOf(span) ?? undefined,
    op_name: opNameOf(span),
    started_at: startedAt,
    ended_at: mapped.endedAt === null ? undefined : storedSpanTime(mapped.endedAt, span, "end"),
    exception: mapped.exception ?? "",
    display_name: mapped.displayName === null ? undefined : displayNameOf(mapped.displayName),
    ...threadOf(mapped, span),
    wb_run_id: mapped.runId === null ? undefined : runOf(mapped.runId, project),
  }
  const step = mapped.runStep === null ? "" : `,"wb_run_step":${mapped.runStep}`
  const stepEnd = mapped.runStepEnd === null ? "" : `,"wb_run_step_end":${mapped.runStepEnd}`
  return `{${ids},${JSON.stringify(plain).slice(1, -1)}${step}${stepEnd}`
}

/** External form: `entity/project/run` (evaluation-store-calls 1.5). */
export function runOf(run: string, { name }: ProjectAccess): string {
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
