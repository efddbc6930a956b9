/**
 * Which calls began or ended, in the order in which they were stored, in files of the data folder. A line is written the
 * moment rows are stored and before their request is answered, so a server that is killed finds at its next start what it
 * had not read. Only calls of watched projects are noted: elsewhere nothing is written and nothing is read.
 *
 * A position counts bytes from the first file on; a file is named by where it begins, and removed once it was read.
 */
import { randomUUID } from "node:crypto"
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { mkdir, open, readdir, rm, stat } from "node:fs/promises"
import path from "node:path"
import type { ErrorLog } from "../log.ts"
import { isUuid } from "./catalog/identifiers.ts"
import type { CallBatch } from "./traces/calls/insert/call-batch.ts"
import { momentsOf } from "./traces/calls/insert/call-batch.ts"

const fullFileBytes = 16 * 1024 ** 2
/** Read at once. */
const pieceBytes = 128 * 1024
/** Bytes of lines that are kept in memory while the disk has no room for them. */
const mostKeptBytes = 8 * 1024 ** 2

export interface ArrivedCall {
  projectId: string
  callId: string
  /** Milliseconds since 1970: when the server stored what came. */
  at: number
}

export interface Arrivals {
  calls: ArrivedCall[]
  /** Where to read on. */
  next: number
}

export class ArrivedCalls {
  /** By which the catalog knows the journal. */
  readonly id: string
  readonly #folder: string
  readonly #log: ErrorLog
  /** Where each file begins, the oldest first; the last one is written to. */
  readonly #starts: number[]
  #file: number
  #end: number
  #watched: ReadonlySet<string> = new Set()
  #heard: () => void = () => undefined
  /** What could not be written yet. */
  #kept: Buffer = Buffer.alloc(0)
  /** What was kept became too much and was given up; the file may end with half a line. */
  #isCut = false

  private constructor(folder: string, id: string, starts: number[], log: ErrorLog) {
    this.#folder = folder
    this.id = id
    this.#log = log
    this.#starts = starts
    this.#end = starts.at(-1) ?? 0
    this.#file = openSync(this.#pathOf(this.#end), "a", 0o600)
  }

  static async open(dataDir: string, log: ErrorLog): Promise<ArrivedCalls> {
    const folder = path.join(dataDir, "arrived-calls")
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const starts = (await readdir(folder))
      .flatMap((name) => (/^\d+\.log$/.test(name) ? [Number.parseInt(name, 10)] : []))
      .toSorted((a, b) => a - b)
    const last = starts.at(-1) ?? 0
    // A line that a kill cut in two ends the file that it is in.
    const end = starts.length === 0 ? 0 : last + (await stat(fileOf(folder, last))).size
    if (starts.length === 0 || end > last) starts.push(end)
    return new ArrivedCalls(folder, journalId(folder), starts, log)
  }

  /** From now on, calls of these projects are noted. */
  watch(projectIds: ReadonlySet<string>): void {
    this.#watched = projectIds
  }

  /** `heard` is called after calls were noted. */
  tell(heard: () => void): void {
    this.#heard = heard
  }

  /** For the writer of calls. Never throws: the calls are stored, whatever becomes of this. */
  note(batches: readonly CallBatch[]): void {
    if (this.#watched.size === 0) return
    const at = Date.now()
    let lines = ""
    for (const batch of batches) {
      if (![...batch.bytesOf.keys()].some((projectId) => this.#watched.has(projectId))) continue
      let before = ""
      for (const moment of momentsOf(batch)) {
        // A start and its end often come one behind the other.
        if (moment === before) continue
        before = moment
        if (this.#watched.has(moment.slice(0, moment.indexOf(",")))) lines += `${at},${moment}\n`
      }
    }
    if (lines === "") return
    this.#write(lines)
    this.#heard()
  }

  /** Behind the last line. */
  get end(): number {
    return this.#end
  }

  /** Before the first line. */
  get start(): number {
    return this.#starts[0] ?? 0
  }

  /** Lines from this position on, as many as are read at once; none: there are no more. */
  async read(position: number): Promise<Arrivals> {
    const from = Math.max(position, this.start)
    if (from >= this.#end) return { calls: [], next: this.#end }
    const index = this.#starts.findLastIndex((start) => start <= from)
    const start = this.#starts[index] ?? 0
    const fileEnd = this.#starts[index + 1] ?? this.#end
    const text = await this.#piece(start, from, fileEnd)
    const whole = text.lastIndexOf("\n") + 1
    // What is left of a file that was ended is half a line; of the one that is written to, its rest may come.
    if (whole === 0) return { calls: [], next: index + 1 < this.#starts.length ? fileEnd : from }
    const next = from + Buffer.byteLength(text.slice(0, whole))
    return {
      calls: text
        .slice(0, whole - 1)
        .split("\n")
        .flatMap(toCall),
      next,
    }
  }

  /** Removes files that hold nothing from this position on. */
  async forget(position: number): Promise<void> {
    while ((this.#starts[1] ?? Number.POSITIVE_INFINITY) <= position) {
      await rm(this.#pathOf(this.#starts[0] ?? 0), { force: true })
      this.#starts.shift()
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  async #piece(start: number, from: number, fileEnd: number): Promise<string> {
    const file = await open(this.#pathOf(start), "r")
    try {
      const buffer = Buffer.alloc(Math.min(pieceBytes, fileEnd - from))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, from - start)
      return buffer.toString("utf8", 0, bytesRead)
    } finally {
      await file.close()
    }
  }

  #write(lines: string): void {
    const bytes = this.#kept.length === 0 ? Buffer.from(lines) : Buffer.concat([this.#kept, Buffer.from(lines)])
    let written = 0
    try {
      const fileBytes = this.#end - (this.#starts.at(-1) ?? 0)
      // The next line would be taken for the rest of half a line.
      if (fileBytes >= fullFileBytes || (this.#isCut && fileBytes > 0)) this.#beginFile()
      this.#isCut = false
      while (written < bytes.length) written += writeSync(this.#file, bytes, written)
      this.#kept = Buffer.alloc(0)
    } catch (error) {
      if (this.#kept.length === 0)
        this.#log.error({ err: error }, "calls that came cannot be noted for rules that score them; trying again")
      const left = bytes.subarray(written)
      const isTooMuch = left.length > mostKeptBytes
      if (isTooMuch) this.#isCut = true
      this.#kept = isTooMuch ? Buffer.alloc(0) : Buffer.from(left)
    }
    this.#end += written
  }

  #beginFile(): void {
    const file = openSync(this.#pathOf(this.#end), "a", 0o600)
    closeSync(this.#file)
    this.#file = file
    this.#starts.push(this.#end)
  }

  #pathOf(start: number): string {
    return fileOf(this.#folder, start)
  }
}

function fileOf(folder: string, start: number): string {
  return path.join(folder, `${String(start).padStart(15, "0")}.log`)
}

/** The folder's own: made when it is first opened. */
function journalId(folder: string): string {
  const file = path.join(folder, "id")
  try {
    return readFileSync(file, "utf8").trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    const id = randomUUID()
    writeFileSync(file, id, { mode: 0o600 })
    return id
  }
}

/** A damaged file may hold lines that nobody wrote; the catalog takes none of them. */
function toCall(line: string): ArrivedCall[] {
  const [at = "", projectId = "", ...id] = line.split(",")
  const isWhole = /^\d{13}$/.test(at) && isUuid(projectId) && id.length > 0
  return isWhole ? [{ at: Number(at), projectId, callId: id.join(",") }] : []
}
