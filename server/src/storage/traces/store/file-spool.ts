/**
 * Files between chDB and this process: those that chDB prints into and clients read from, gone from the folder before their
 * first byte is read, and those that hold rows for one insert.
 */
import type { Session } from "chdb"
import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import type { Readable } from "node:stream"
import { createZstdDecompress } from "node:zlib"
import { diskFull } from "../../../errors.ts"
import { isDiskFull } from "../../file-system/disk-space.ts"
import { sqlLiteral } from "./sql-literal.ts"
import type { PrintFormat } from "./trace-store.ts"

/** Where rows go, and how they are written. */
export interface RowInsert {
  table: string
  columns?: string[]
  format: "JSONEachRow" | "CSV"
  settings?: Readonly<Record<string, string | number>>
}

export class FileSpool {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Removes what a crash left there. */
  static async open(folder: string): Promise<FileSpool> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    return new FileSpool(folder)
  }

  /** Streams the file that `print` has written. @throws {HeddleError} `insufficient_storage` */
  async fill(format: PrintFormat, print: (file: string) => Promise<void>): Promise<Readable> {
    const file = path.join(this.#folder, randomUUID())
    const handle = await this.#printed(file, print)
    // Nothing may be awaited from here on: an error of the stream would find no listener yet.
    const stored = handle.createReadStream({ highWaterMark: 256 * 1024 })
    return isCompressed(format) ? decompressed(stored) : stored
  }

  /** Writes the rows into a file for as long as `insert` runs. */
  async hold(rows: Buffer, insert: (file: string) => Promise<unknown>): Promise<void> {
    const file = path.join(this.#folder, randomUUID())
    try {
      await writeFile(file, rows)
      await insert(file)
    } finally {
      await rm(file, { force: true })
    }
  }

  /** Streams that are still read go on: their files are open, and gone from the folder already. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #printed(file: string, print: (file: string) => Promise<void>): Promise<FileHandle> {
    try {
      await print(file)
      // chDB does not say that it could write only a part of the file.
      if (await isDiskFull(this.#folder)) throw diskFull()
      return await open(file)
    } finally {
      await rm(file, { force: true })
    }
  }
}

/** chDB takes a blank line for the end of the rows of a statement, also within a text; of a file it reads all. */
export async function insertRows(session: Session, spool: FileSpool, into: RowInsert, values: Buffer): Promise<void> {
  if (!values.includes("\n\n")) await session.insert({ ...into, values })
  else await spool.hold(values, (file) => session.queryAsync(fileInsert(into, file)))
}

function fileInsert({ table, columns, format, settings = {} }: RowInsert, file: string): string {
  const into = columns === undefined ? table : `${table} (${columns.join(", ")})`
  const set = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const clause = set.length === 0 ? "" : ` settings ${set.join(", ")}`
  return `insert into ${into} from infile ${sqlLiteral(file)} compression 'none'${clause} format ${format}`
}

/** Texts take a tenth of their size; Parquet compresses itself. */
export function printStatement(select: string, format: PrintFormat, file: string): string {
  const compression = isCompressed(format) ? " compression 'zstd' level 1" : ""
  return `${select}\ninto outfile ${sqlLiteral(file)}${compression} format ${format}`
}

const isCompressed = (format: PrintFormat) => format !== "Parquet"

function decompressed(stored: Readable): Readable {
  const decoder = createZstdDecompress()
  stored.once("error", (error) => decoder.destroy(error))
  decoder.once("close", () => stored.destroy())
  return stored.pipe(decoder)
}
