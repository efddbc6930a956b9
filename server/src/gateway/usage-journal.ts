/**
 * What requests in progress have used until now, in a file of the data folder. A server that is killed leaves it there, as does
 * one that stops while the catalog is away or full, and the next start puts its rows into the ledger: those of requests that
 * ended meanwhile are there already and stay as they are. What was sampled between the last write and a kill is not counted.
 */
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { isPassing, isStoreUnavailable } from "../errors.ts"
import type { ErrorLog } from "../log.ts"
import { insertUsage, type UsageRow } from "../storage/catalog/inference/completion-usage.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

const everyMs = 500
const rowsPerInsert = 1_000
const lost = "the tokens of requests could not be stored in the usage ledger"

export class UsageJournal {
  readonly #file: string
  readonly #rows: () => UsageRow[]
  readonly #log: ErrorLog
  readonly #timer: NodeJS.Timeout
  #writing: Promise<void> = Promise.resolve()
  #isIdle = true
  #hasFile = false
  #isBroken = false

  /** `rows`: of the requests in progress, and those that wait for the catalog. */
  constructor(dataDir: string, rows: () => UsageRow[], log: ErrorLog) {
    this.#file = fileOf(dataDir)
    this.#rows = rows
    this.#log = log
    this.#timer = setInterval(() => this.#write(), everyMs).unref()
  }

  /** Call it when nothing more is sampled. Rows that are not in the ledger by then are left to the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.#store().catch((error: unknown) => this.#log.error({ err: error, rows: this.#rows() }, lost))
  }

  #write(): void {
    if (!this.#isIdle) return
    this.#isIdle = false
    this.#writing = this.#store()
      .then(
        () => void (this.#isBroken = false),
        (error: unknown) => this.#complain(error),
      )
      .finally(() => (this.#isIdle = true))
  }

  async #store(): Promise<void> {
    const rows = this.#rows()
    if (rows.length === 0 && !this.#hasFile) return
    this.#hasFile = rows.length > 0
    if (rows.length === 0) return rm(this.#file, { force: true })
    const created_at = new Date().toISOString()
    const lines = rows.map((row) => `${JSON.stringify({ created_at, ...row })}\n`)
    await writeFile(`${this.#file}.new`, lines.join(""), { mode: 0o600 })
    await rename(`${this.#file}.new`, this.#file)
  }

  /** Once, and not twice a second: on a full disk for example. */
  #complain(error: unknown): void {
    if (!this.#isBroken)
      this.#log.error({ err: error }, "what requests in progress use cannot be noted; a kill would lose it")
    this.#isBroken = true
  }
}

/** Puts what a killed server has left into the ledger. Returns the rows for which the catalog has no room; their file stays. */
export async function recoverUsage(dataDir: string, database: CatalogDatabase, log: ErrorLog): Promise<UsageRow[]> {
  const file = fileOf(dataDir)
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return ""
    throw error
  })
  const rows = text.split("\n").flatMap((line) => rowIn(line, log))
  const left: UsageRow[] = []
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const some = rows.slice(from, from + rowsPerInsert)
    // A project that was deleted meanwhile must not keep the server from starting.
    await insertUsage(database, some).catch((error: unknown) => {
      if (isStoreUnavailable(error)) throw error
      if (isPassing(error)) left.push(...some)
      else log.error({ err: error, rows: some }, lost)
    })
  }
  if (left.length === 0) await rm(file, { force: true })
  return left
}

/** A machine that lost its power may leave a file that is not whole; that must not keep the server from starting either. */
function rowIn(line: string, log: ErrorLog): UsageRow[] {
  if (line === "") return []
  try {
    return [JSON.parse(line) as UsageRow]
  } catch (error) {
    log.error({ err: error, line }, lost)
    return []
  }
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, "usage-in-progress.jsonl")
}
