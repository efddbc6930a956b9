/** The body of an import, in the parts that tasks read. */
import type { FastifyRequest } from "fastify"
import { createWriteStream } from "node:fs"
import { rm } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import { bodyStream } from "../../http/bodies/body-stream.ts"
import type { ExportFormatName } from "../../wire/transfer/export.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { ThreadPool } from "../../threads/thread-pool.ts"
import { parquetSizeTask } from "./parquet-size-task.ts"
import type { BatchEnd, RowBatch } from "./row-batch.ts"
import { CsvEnds, LineEnds, wholeRows } from "./whole-rows.ts"

/** Limit on one file. */
const mostFileBytes = 64 * 1024 ** 3

export interface ImportedBody {
  request: FastifyRequest
  threads: ThreadPool
  held: HeldBody
  format: ExportFormatName
  mostColumns: number
  /** A fresh name for a file, in a folder that a start empties. */
  temporaryPath: () => string
  /** Smallest part: larger parts make an import faster, and the work on one part longer. */
  partBytes: number
}

/** Reads part after part with `read`, which tells where each ended. */
export async function eachBatch(body: ImportedBody, read: (batch: RowBatch) => Promise<BatchEnd>): Promise<void> {
  const bytes = bodyStream(body.request.raw, mostFileBytes)
  await (body.format === "parquet" ? readFile(bytes, body, read) : readStream(bytes, body, read))
}

const nothing = Buffer.alloc(0)

async function readStream(
  bytes: AsyncGenerator<Buffer>,
  { held, format, mostColumns, partBytes }: ImportedBody,
  read: (batch: RowBatch) => Promise<BatchEnd>,
): Promise<void> {
  const ends = format === "csv" ? new CsvEnds() : new LineEnds()
  let batch: RowBatch = { format, firstRow: 1, bytes: nothing, header: null, linesBefore: 0, file: "", mostColumns }
  for await (const part of wholeRows(bytes, ends, { held, partBytes })) {
    const lines = format === "csv" ? linesIn(part) : 0
    const { rows, header } = await read({ ...batch, bytes: part })
    batch = { ...batch, header, firstRow: batch.firstRow + rows, linesBefore: batch.linesBefore + lines }
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf("\n"); at !== -1; at = bytes.indexOf("\n", at + 1)) lines++
  return lines
}

/** Parquet has at its end what says where everything is: hence the file. */
async function readFile(
  bytes: AsyncGenerator<Buffer>,
  { threads, held, format, mostColumns, temporaryPath }: ImportedBody,
  read: (batch: RowBatch) => Promise<BatchEnd>,
): Promise<void> {
  const file = temporaryPath()
  try {
    await pipeline(bytes, createWriteStream(file, { flags: "wx", mode: 0o600 }))
    const size = await threads.run(parquetSizeTask, { file, mostColumns }, { bytes: Infinity, answer: noLookups })
    await held.atLeast(size.bytes)
    const batch: RowBatch = { format, firstRow: 1, bytes: nothing, header: null, linesBefore: 0, file, mostColumns }
    for (let hasMore = true; hasMore;) {
      const end = await read(batch)
      batch.firstRow += end.rows
      hasMore = end.hasMore
    }
  } finally {
    await rm(file, { force: true })
  }
}
