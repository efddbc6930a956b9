/** Datasets as Parquet. */
import { type FileHandle, open, rm } from "node:fs/promises"
import type { Readable } from "node:stream"
import { HeddleError } from "../../errors.ts"
import type { ThreadPool } from "../../threads/thread-pool.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { DatasetColumns } from "./dataset-columns.ts"
import { betweenRows, parquetEndTask, parquetGroupTask, parquetStart } from "./parquet-tasks.ts"
import { rowSlices } from "./row-slices.ts"

/** Of a group of rows, which is encoded and compressed at once. */
const groupRows = 8192
const groupCharacters = 2 * 1024 ** 2
const groupCells = 1024 ** 2
/** Even of so many columns that this is more cells: each column costs as much again in every group. */
const fewestGroupRows = 2048
/** The list at the end of a file names each column of each group. */
const mostListed = 200_000

/** Written into `file` first: its list of what is where stands at its end. What reads it goes on when its name is gone. */
export async function datasetParquet(
  threads: ThreadPool,
  columns: DatasetColumns,
  batches: AsyncIterable<readonly string[]>,
  file: string,
): Promise<Readable> {
  const handle = await open(file, "w+")
  try {
    await new ParquetFile(threads, columns, handle).write(batches)
    return handle.createReadStream({ start: 0 })
  } catch (error) {
    await handle.close()
    throw error
  } finally {
    await rm(file, { force: true })
  }
}

/** Rows that are encoded and compressed together. */
interface Group {
  rows: string[]
  characters: number
}

class ParquetFile {
  readonly #threads: ThreadPool
  readonly #columns: DatasetColumns
  readonly #columnsText: string
  readonly #handle: FileHandle
  readonly #groups: Buffer[] = []
  #length = 0

  constructor(threads: ThreadPool, columns: DatasetColumns, handle: FileHandle) {
    this.#threads = threads
    this.#columns = columns
    this.#columnsText = JSON.stringify([...columns])
    this.#handle = handle
  }

  async write(batches: AsyncIterable<readonly string[]>): Promise<void> {
    await this.#append(parquetStart)
    let group: Group = { rows: [], characters: 0 }
    for await (const rows of rowSlices(batches, this.#columns.size)) {
      for (const row of rows) {
        group.rows.push(row)
        group.characters += row.length
      }
      if (!this.#isFull(group)) continue
      if ((this.#groups.length + 1) * this.#columns.size > mostListed) throw tooWide(this.#columns.size)
      await this.#addGroup(group)
      group = { rows: [], characters: 0 }
    }
    if (group.rows.length > 0) await this.#addGroup(group)
    await this.#addEnd()
  }

  #isFull({ rows, characters }: Group): boolean {
    const mostRows = Math.min(groupRows, Math.max(fewestGroupRows, groupCells / this.#columns.size))
    return rows.length >= mostRows || characters >= groupCharacters
  }

  async #addGroup({ rows, characters }: Group): Promise<void> {
    const input = { ...this.#part(), rows: Buffer.from(rows.join(betweenRows)) }
    const options = { bytes: characters + rows.length * this.#columns.size, answer: noLookups }
    const { bytes, listed } = await this.#threads.run(parquetGroupTask, input, options)
    this.#groups.push(listed)
    await this.#append(bytes)
  }

  async #addEnd(): Promise<void> {
    const size = this.#groups.reduce((sum, { length }) => sum + length, 0)
    const input = { ...this.#part(), groups: this.#groups }
    const { bytes } = await this.#threads.run(parquetEndTask, input, { bytes: size, answer: noLookups })
    await this.#append(bytes)
  }

  #part() {
    return { columns: this.#columnsText, start: this.#length }
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#handle.appendFile(bytes)
    this.#length += bytes.length
  }
}

function tooWide(columns: number): HeddleError {
  return new HeddleError(
    "invalid_request",
    `the rows are too many for a Parquet file of ${columns} columns; export them as CSV or JSON Lines`,
  )
}
