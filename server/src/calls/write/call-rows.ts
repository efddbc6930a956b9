/** Makes the stored rows of calls: the few plain values printed anew, the payloads copied from the body as they came (law 3). */
import { HeddleError } from "../../errors.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { type CallBatch, CallBatchBuilder } from "../../storage/traces/calls/insert/call-batch.ts"
import type { CallBody } from "./call-body.ts"
import { type CallField, callFields, type CallForm, fieldAt } from "./call-fields.ts"
import { type CallItem, isPayload } from "./call-item.ts"

/** Ids of a call at its start: sent by the client or made by the server. */
export interface CallIds {
  id: string
  trace_id: string
}

/** Fields that the server adds to a call. */
export interface CallOwner {
  /** Id in the catalog. */
  projectId: string
  userId: string
}

/** Bytes of the payloads of one row; more is shrunk: evaluation-store-calls 2.3. */
const maximumRowBytes = 3.5 * 1024 * 1024
const exceedsLimits = Buffer.from('{"_weave":{"error":"<EXCEEDS_LIMITS>"}}')
const jsonNull = Buffer.from("null")
/** Room for the plain values of a row. */
const headBytes = 1024

/** The fields that are stored; the ids come before them. */
const layout: Readonly<Record<CallForm, { plain: CallField[]; payloads: CallField[] }>> = {
  start: layoutOf("start"),
  end: layoutOf("end"),
  complete: layoutOf("complete"),
}

function layoutOf(form: CallForm): { plain: CallField[]; payloads: CallField[] } {
  const stored = callFields[form].filter(({ ignored, index }) => !ignored && index > fieldAt.traceId)
  return { plain: stored.filter((field) => !isPayload(field)), payloads: stored.filter(isPayload) }
}

export class CallRows {
  readonly #body: CallBody
  readonly #rows: CallBatchBuilder

  constructor(body: CallBody) {
    this.#body = body
    // Small calls have smaller heads; reserving memory that stays unused would trigger the garbage collector.
    const heads = Math.min(headBytes * (body.items.length + 1), Math.max(4 * headBytes, body.bytes.length))
    this.#rows = new CallBatchBuilder(body.bytes.length + heads)
  }

  /** `ids`: of a start, null for an end. @throws {HeddleError} `insert_too_large`. */
  add(item: CallItem, { projectId, userId }: CallOwner, ids: CallIds | null): void {
    const { plain, payloads } = layout[item.form]
    const texts: Record<string, string> = ids === null ? {} : { trace_id: ids.trace_id, wb_user_id: userId }
    let bytes = 0
    for (const { name, index } of plain) {
      const value = item.values[index]
      if (name === "exception") texts[name] = storedException(value)
      else if (value !== undefined) texts[name] = value
      bytes += value?.length ?? 0
    }
    const found = payloads.map(({ index }) => this.#payload(item.spans, index))
    const id = ids?.id ?? item.values[fieldAt.id] ?? ""
    shrink(found, exceedsLimits, bytes, id)
    const stored: Record<string, Buffer> = {}
    let at = 0
    for (const { name, kind } of payloads) {
      // An ended call whose output was never sent has the output null.
      const payload = found[at++] ?? (kind === "payload" && item.form !== "start" ? jsonNull : null)
      if (payload !== null) stored[name] = payload
    }
    this.#rows.add({ projectId, id }, texts, stored, { isOdd: item.unreadable })
  }

  /** The rows added so far, to be stored together. */
  batch(): CallBatch {
    return this.#rows.batch()
  }

  #payload(spans: readonly number[], index: number): Buffer | null {
    const end = spans[2 * index + 1]
    if (end === 0) return null
    const bytes = this.#body.bytes.subarray(spans[2 * index], end)
    // JSON has no such tokens, and neither ClickHouse nor a JavaScript client reads them.
    return this.#body.holdsNotFinite ? Buffer.from(withoutNotFinite(bytes.toString("utf8"))) : bytes
  }
}

/** An end replaces all that an earlier end said, and '' stands for none: an error without a message is told in words. */
function storedException(text: string | undefined): string {
  if (text === undefined) return ""
  return text === "" ? "an error without a message" : text
}

/**
 * Replaces the largest payloads until the row is small enough.
 * @throws {HeddleError} `insert_too_large` when that is not enough.
 */
export function shrink<T extends Buffer | string>(
  texts: (T | null)[],
  replacement: T,
  plainBytes: number,
  id: string,
): void {
  // Three bytes at most for each UTF-16 unit: nearly every row needs no more counting than this.
  if (texts.reduce((sum, text) => sum + 3 * (text?.length ?? 0), plainBytes) <= maximumRowBytes) return
  const lengths = texts.map((text) => (text === null ? 0 : Buffer.byteLength(text)))
  let total = lengths.reduce((sum, length) => sum + length, plainBytes)
  while (total > maximumRowBytes) {
    const length = Math.max(...lengths)
    const largest = lengths.indexOf(length)
    if (length <= replacement.length) throw rowTooLarge(total, id)
    texts[largest] = replacement
    lengths[largest] = replacement.length
    total += replacement.length - length
  }
}

function rowTooLarge(bytes: number, id: string): HeddleError {
  const message = `the call ${id} takes ${bytes} bytes without its payloads; one may take ${maximumRowBytes}. Shorten its texts`
  return new HeddleError("insert_too_large", message)
}
