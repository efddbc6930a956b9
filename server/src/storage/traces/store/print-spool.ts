/** Files that chDB prints into and clients read from: gone from the folder before their first byte is read. */
import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, rm } from "node:fs/promises"
import path from "node:path"
import type { Readable } from "node:stream"
import { createZstdDecompress } from "node:zlib"
import { diskFull } from "../../../errors.ts"
import { isDiskFull } from "../../disk-space.ts"
import { sqlLiteral } from "./sql-literal.ts"
import type { PrintFormat } from "./trace-store.ts"

export class PrintSpool {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Removes what a crash left there. */
  static async open(folder: string): Promise<PrintSpool> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    return new PrintSpool(folder)
  }

  /** Streams the file that `print` has written. @throws {HeddleError} `insufficient_storage` */
  async fill(format: PrintFormat, print: (file: string) => Promise<void>): Promise<Readable> {
    const file = path.join(this.#folder, randomUUID())
    const handle = await this.#printed(file, print)
    // Nothing may be awaited from here on: an error of the stream would find no listener yet.
    const stored = handle.createReadStream({ highWaterMark: 256 * 1024 })
    return isCompressed(format) ? decompressed(stored) : stored
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
