/**
 * Makes the stored rows of calls: the few plain values printed anew, the payloads copied from the
 * body as they came (law 3). Format: JSON Lines for the columns of `storage/traces/calls-tables.ts`.
 */
import { HeddleError } from "../errors.ts"
import { withoutNotFinite } from "../json/json-parts.ts"
import type { CallBatch } from "../storage/traces/calls-write.ts"
import type { CallBody } from "./call-body.ts"
import { type CallField, callFields, type CallForm } from "./call-fields.ts"
import type { CallItem, Span } from "./call-item.ts"

/** What the server adds to a call. */
export interface CallOwner {
  /** Of the catalog. */
  projectId: string
  userId: string
}

/** Bytes of the payloads of one row; more is shrunk: evaluation-store-calls 2.3. */
const maximumRowBytes = 3.5 * 1024 * 1024
const exceedsLimits = Buffer.from('{"_weave":{"error":"<EXCEEDS_LIMITS>"}}')
const jsonNull = Buffer.from("null")
/** Room for the plain values of a row; the buffer grows when they need more. */
const headBytes = 1024

/** Payloads, and the plain fields that are stored as text. */
const layout = Object.fromEntries(
  (["start", "end", "complete"] as const).map((form) => {
    const stored = callFields[form].filter((field) => !field.ignored && field.kind !== "project")
    return [form, { plain: stored.filter((field) => !isPayload(field)), payloads: stored.filter(isPayload) }]
  }),
) as Record<CallForm, { plain: CallField[]; payloads: CallField[] }>

function isPayload({ kind }: CallField): boolean {
  return kind === "payload" || kind === "payload_object"
}

export class CallRows {
  readonly #body: CallBody
  #buffer: Buffer
  #used = 0
  #places = ""

  constructor(body: CallBody) {
    this.#body = body
    this.#buffer = Buffer.allocUnsafe(body.bytes.length + headBytes * (body.items.length + 1))
  }

  /** `made`: ids that the server makes for a start without them. @throws {HeddleError} `insert_too_large`. */
  add(item: CallItem, owner: CallOwner, made: Readonly<Record<string, string>> = {}): void {
    const { plain, payloads } = layout[item.form]
    let head = `{"project_id":"${owner.projectId}"`
    if (item.form !== "end") head += `,"wb_user_id":${JSON.stringify(owner.userId)}`
    for (const field of plain) {
      const value = item.values.get(field.name) ?? made[field.name]
      if (value !== undefined) head += `,"${field.name}":${field.kind === "integer" ? value : JSON.stringify(value)}`
    }
    // An end replaces all that an earlier end said.
    if (item.form === "end" && !item.values.has("exception")) head += ',"exception":""'
    this.#text(head)
    if (item.form !== "end") this.#addPlace(item, owner, made)
    const texts = payloads.map((field) => this.#payload(item.spans.get(field.name)))
    shrink(texts, head.length, item)
    texts.forEach((text, index) => this.#column(payloads[index] as CallField, text, item.form))
    this.#text("}\n")
  }

  /** What was added, to be stored together. */
  batch(): CallBatch {
    return { rows: this.#buffer.subarray(0, this.#used), places: Buffer.from(this.#places) }
  }

  #addPlace({ values }: CallItem, { projectId }: CallOwner, made: Readonly<Record<string, string>>): void {
    const { id, trace_id } = {
      id: values.get("id") ?? made["id"],
      trace_id: values.get("trace_id") ?? made["trace_id"],
    }
    // Ids and times hold nothing that JSON escapes.
    this.#places += `{"project_id":"${projectId}","trace_id":"${trace_id}","started_at":"${values.get("started_at")}","id":"${id}"}\n`
  }

  #column({ name, kind }: CallField, text: Buffer | null, form: CallForm): void {
    if (text === null && (kind !== "payload" || form === "start")) return
    // The array keeps ClickHouse from reading the text; see calls-tables.ts.
    this.#text(`,"${name}":[`)
    this.#copy(text ?? jsonNull)
    this.#text("]")
  }

  #payload(span: Span | undefined): Buffer | null {
    if (span === undefined) return null
    const bytes = this.#body.bytes.subarray(span.start, span.end)
    // JSON has no such tokens, and neither ClickHouse nor a JavaScript client reads them.
    return this.#body.holdsNotFinite ? Buffer.from(withoutNotFinite(bytes.toString("utf8"))) : bytes
  }

  #text(text: string): void {
    // Three bytes at most for each UTF-16 unit.
    this.#reserve(text.length * 3)
    this.#used += this.#buffer.write(text, this.#used, "utf8")
  }

  #copy(bytes: Buffer): void {
    this.#reserve(bytes.length)
    this.#used += bytes.copy(this.#buffer, this.#used)
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#used + bytes))
    this.#buffer.copy(larger, 0, 0, this.#used)
    this.#buffer = larger
  }
}

/** Replaces the largest payloads until the row is small enough. */
function shrink(texts: (Buffer | null)[], plainBytes: number, item: CallItem): void {
  let total = texts.reduce((sum, text) => sum + (text?.length ?? 0), plainBytes)
  while (total > maximumRowBytes) {
    const lengths = texts.map((text) => text?.length ?? 0)
    const largest = lengths.indexOf(Math.max(...lengths))
    const length = lengths[largest] ?? 0
    if (length <= exceedsLimits.length) throw rowTooLarge(total, item)
    texts[largest] = exceedsLimits
    total += exceedsLimits.length - length
  }
}

function rowTooLarge(bytes: number, item: CallItem): HeddleError {
  const id = item.values.get("id") ?? "(no id)"
  const message = `the call ${id} takes ${bytes} bytes without its payloads; one may take ${maximumRowBytes}. Shorten its texts`
  return new HeddleError("insert_too_large", message)
}
