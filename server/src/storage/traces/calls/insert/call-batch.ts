/**
 * Rows of calls that are stored together: CSV whose texts stand between apostrophes. ClickHouse reads that
 * twice as fast as JSON Lines, since JSON in it is copied as it is: only an apostrophe is doubled.
 */
import { idPlaceLine, placeLines } from "./call-places.ts"
import { RowBuffer } from "./row-buffer.ts"
import { sortTimeInId, unknownSortTime } from "./sort-time.ts"

/** Plain bytes, so that a batch may cross between threads. */
export interface CallBatch {
  /** CSV of {@link callColumns}. */
  rows: Buffer
  /** CSV of `placeColumns`: the places of the starts among them. */
  places: Buffer
  /** Start and end offset of each row whose id holds no sort time, as four-byte integers. */
  unplaced: Buffer
  /** Where each row begins that starts or ends a call, unless it says what is stored already: numbers of four bytes. */
  moments?: Buffer
  /** JSON Lines of `agent_spans`: the spans among them that are also shown as spans of agents. */
  agentSpans?: Buffer
  /** By project, of the rows that store something new. */
  bytesOf: ReadonlyMap<string, number>
}

const headColumns = ["project_id", "id", "sort_time", "trace_id", "started_at"] as const
const textColumns = [
  "parent_id",
  "thread_id",
  "turn_id",
  "op_name",
  "display_name",
  "ended_at",
  "exception",
  "wb_user_id",
  "wb_run_id",
  "wb_run_step",
  "wb_run_step_end",
  "deleted_at",
] as const
const payloadColumns = ["attributes", "inputs", "output", "summary", "otel_dump"] as const

export const callColumns: readonly string[] = [...headColumns, ...textColumns, "odd_json", ...payloadColumns]

/** A row with `started_at` is a start. Neither ids nor times may hold a comma or an apostrophe. */
export type CallTexts = Partial<Record<"trace_id" | "started_at" | (typeof textColumns)[number], string>>
/** JSON texts. */
export type CallPayloads = Partial<Record<(typeof payloadColumns)[number], Buffer | string>>

export interface CallRowKey {
  projectId: string
  id: string
  /** Sort time of a call that was read. Absent: it is in the id, or unknown here. */
  sortTime?: number
}

export interface CallRowFacts {
  /** A payload holds what makes `JsonScanner.sawUnreadable`. */
  isOdd?: boolean
  /** True if the row repeats what is stored already. */
  isKnown?: boolean
}

const nothing = "\\N"
/** Room for any sort time. */
const digits = String(unknownSortTime).length
const blank = "0".repeat(digits)

export class CallBatchBuilder {
  readonly #rows: RowBuffer
  readonly #unplaced: number[] = []
  readonly #moments: number[] = []
  readonly #bytesOf = new Map<string, number>()
  #places = ""

  constructor(expectedBytes: number) {
    this.#rows = new RowBuffer(expectedBytes)
  }

  add(
    { projectId, id, sortTime }: CallRowKey,
    texts: CallTexts,
    payloads: CallPayloads = {},
    { isOdd = false, isKnown = false }: CallRowFacts = {},
  ): void {
    const from = this.#rows.length
    const time = sortTime ?? sortTimeInId(id)
    const { trace_id, started_at, ended_at } = texts
    if (!isKnown && (started_at ?? ended_at) !== undefined) this.#moments.push(from)
    let text = `${projectId},${id},${time ?? blank},${trace_id ?? nothing},${started_at ?? nothing}`
    for (const name of textColumns) text += csvText(texts[name])
    text += isOdd ? ",1" : ",\\N"
    for (const name of payloadColumns) {
      const payload = payloads[name]
      if (payload === undefined) text += ",\\N"
      else if (typeof payload === "string") text += `,'[${doubled(payload)}]'`
      else {
        this.#rows.text(`${text},'[`)
        this.#rows.copyDoubled(payload, apostrophe)
        text = "]'"
      }
    }
    this.#rows.text(`${text}\n`)
    if (time === null) this.#unplaced.push(from, this.#rows.length)
    else if (started_at !== undefined)
      this.#places += placeLines(projectId, { id, sort_time: time }, { trace_id: trace_id ?? "", started_at })
    if (!isKnown) this.#bytesOf.set(projectId, (this.#bytesOf.get(projectId) ?? 0) + this.#rows.length - from)
  }

  /** Bytes of the rows that were added. */
  get size(): number {
    return this.#rows.length
  }

  /** The rows added so far. */
  batch(): CallBatch {
    const unplaced = offsetBytes(this.#unplaced)
    const moments = offsetBytes(this.#moments)
    return { rows: this.#rows.bytes(), places: Buffer.from(this.#places), unplaced, moments, bytesOf: this.#bytesOf }
  }
}

/** Batches as one, in the order given, of calls that are no news: without `moments`. */
export function joinedBatches(batches: readonly CallBatch[]): CallBatch {
  const bytesOf = new Map<string, number>()
  const unplaced: number[] = []
  let rowsBefore = 0
  for (const batch of batches) {
    for (const [projectId, bytes] of batch.bytesOf) bytesOf.set(projectId, (bytesOf.get(projectId) ?? 0) + bytes)
    for (let at = 0; at < batch.unplaced.length; at += 4) unplaced.push(rowsBefore + batch.unplaced.readUInt32LE(at))
    rowsBefore += batch.rows.length
  }
  return {
    rows: Buffer.concat(batches.map(({ rows }) => rows)),
    places: Buffer.concat(batches.map(({ places }) => places)),
    agentSpans: Buffer.concat(batches.flatMap(({ agentSpans }) => agentSpans ?? [])),
    unplaced: offsetBytes(unplaced),
    bytesOf,
  }
}

function offsetBytes(offsets: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(offsets).buffer)
}

const apostrophe = 0x27

function csvText(value: string | undefined): string {
  return value === undefined ? ",\\N" : `,'${doubled(value)}'`
}

function doubled(text: string): string {
  return text.includes("'") ? text.replaceAll("'", "''") : text
}

/** A row of a batch that has no sort time yet, or had none when the batch was made. */
export interface UnplacedRow {
  projectId: string
  id: string
  /** null: the row is no start. */
  start: { trace_id: string; started_at: string } | null
  /** In the batch. */
  from: number
  to: number
}

/** More than the columns ahead of the texts take. */
const longestHead = 256

export function* unplacedRows({ rows, unplaced }: CallBatch): Generator<UnplacedRow> {
  for (let at = 0; at < unplaced.length; at += 8) {
    const from = unplaced.readUInt32LE(at)
    const to = unplaced.readUInt32LE(at + 4)
    const head = rows.toString("latin1", from, Math.min(to, from + longestHead))
    const [projectId = "", id = "", , trace_id = "", started_at = ""] = head.split(",", headColumns.length)
    yield { projectId, id, start: started_at === nothing ? null : { trace_id, started_at }, from, to }
  }
}

/** Project and call of each row that starts or ends a call, as they stand in the row: `<project>,<id>`. */
export function* momentsOf({ rows, moments }: CallBatch): Generator<string> {
  for (let at = 0; at < (moments?.length ?? 0); at += 4) {
    const from = moments?.readUInt32LE(at) ?? 0
    const comma = rows.indexOf(",", from)
    yield rows.toString("utf8", from, rows.indexOf(",", comma + 1))
  }
}

/** Writes the sort time into the row, where the builder left room for it. */
export function placeRow({ rows }: CallBatch, { projectId, id, from }: UnplacedRow, sortTime: number): void {
  const text = sortTime < 0 ? `-${String(-sortTime).padStart(digits - 1, "0")}` : String(sortTime).padStart(digits, "0")
  rows.write(text, from + projectId.length + id.length + 2, "latin1")
}

/** The places that a row has under its sort time, as CSV; `isNew`: the sort time is not recorded for its id. */
export function placesOfRow({ projectId, id, start }: UnplacedRow, sortTime: number, isNew: boolean): string {
  const key = { id, sort_time: sortTime }
  return (isNew ? idPlaceLine(projectId, key) : "") + (start === null ? "" : placeLines(projectId, key, start))
}

/** The rows alone, to be stored again. */
export function rowsAlone({ rows }: CallBatch, some: readonly UnplacedRow[]): Buffer {
  return Buffer.concat(some.map(({ from, to }) => rows.subarray(from, to)))
}
