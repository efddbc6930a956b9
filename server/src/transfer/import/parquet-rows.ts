/**
 * Rows of a Parquet file, which is read from its end, so that it lies in a folder. What a hostile file may make of memory
 * is bounded by what its footer and its pages declare, which the reader holds it to, and by what its thread may take.
 */
import {
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  snappyUncompress,
  type ParquetParsers,
} from "hyparquet"
import { asyncBufferFromFile } from "hyparquet/src/node.js"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { HeddleError } from "../../errors.ts"
import { isoTimeOf } from "../../storage/traces/query/sql-time.ts"
import { type RowOrError, rowText, RowError } from "./imported-row.ts"

/** Bytes of a row group, decoded, and of one page; writers make 1 MiB pages in groups of 64 MiB or so. */
const mostGroupBytes = 1024 ** 3
const mostPageBytes = 128 * 1024 ** 2
const mostGroupRows = 1_048_576
/** Rows that are the same throughout take few bytes, but not none. */
const mostRowsOfByte = 1000
/** Decoded at once. */
const rowsAtOnce = 8192

/** Text that is JSON already. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Reads a cell: its JSON text, or null for none. @throws {RowError} */
export type ValueReader = (column: string, value: unknown) => string | null

export interface ParquetRows {
  rows: RowOrError[]
  hasMore: boolean
}

/**
 * The rows of the file `name` from the one of this index on, as many as are decoded at once.
 * @throws {HeddleError} 400 no Parquet file, too many columns; 413 one that takes too much memory.
 */
export async function parquetRows(
  name: string,
  { from, most, mostColumns }: { from: number; most: number; mostColumns: number },
  readValue: ValueReader,
): Promise<ParquetRows> {
  const { file, metadata } = await openFile(name, mostColumns)
  // The reader knows JSON by the older of its two names only.
  for (const element of metadata.schema) if (element.logical_type?.type === "JSON") element.converted_type = "JSON"
  const total = rowsOf(metadata)
  const rowEnd = Math.min(total, from + Math.min(most, rowsAtOnce))
  if (from >= rowEnd) return { rows: [], hasMore: false }
  const rows = await parquetReadObjects({ file, metadata, rowStart: from, rowEnd, compressors, parsers }).catch(
    unreadable,
  )
  return { rows: rows.map((row, index) => readRow(from + index + 1, row, readValue)), hasMore: rowEnd < total }
}

/**
 * What the largest group of rows takes, decoded: a reader holds the pages of one at a time.
 * @throws {HeddleError} as {@link parquetRows}.
 */
export async function largestGroupBytes(name: string, mostColumns: number): Promise<number> {
  const { metadata } = await openFile(name, mostColumns)
  return metadata.row_groups.reduce((most, { total_byte_size }) => Math.max(most, Number(total_byte_size)), 0)
}

async function openFile(name: string, mostColumns: number) {
  const file = await asyncBufferFromFile(name)
  const metadata = await parquetMetadataAsync(file, { parsers, initialFetchSize: 65_536 }).catch(unreadable)
  checkSize(metadata, file.byteLength)
  if (metadata.schema.length > mostColumns) throw tooManyColumns(mostColumns)
  return { file, metadata }
}

function tooManyColumns(most: number): HeddleError {
  return new HeddleError("invalid_request", `the Parquet file has more than ${most} columns`)
}

function readRow(number: number, row: Record<string, unknown>, readValue: ValueReader): RowOrError {
  try {
    return {
      number,
      text: rowText(Object.entries(row).map(([name, value]) => [name, readValue(name, value ?? null)] as const)),
    }
  } catch (error) {
    if (error instanceof RowError) return { number, error }
    throw error
  }
}

const rowsOf = ({ row_groups }: FileMetaData) => row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0)

function checkSize(metadata: FileMetaData, bytes: number): void {
  const { row_groups } = metadata
  if (rowsOf(metadata) > bytes * mostRowsOfByte) {
    throw new HeddleError(
      "payload_too_large",
      `the Parquet file of ${bytes} bytes says that it has ${rowsOf(metadata)} rows`,
    )
  }
  for (const [index, { num_rows, total_byte_size }] of row_groups.entries()) {
    if (num_rows <= mostGroupRows && total_byte_size <= mostGroupBytes) continue
    throw new HeddleError(
      "payload_too_large",
      `row group ${index} of the Parquet file has ${num_rows} rows and ${total_byte_size} bytes; write groups of at most ${mostGroupRows} rows and ${mostGroupBytes} bytes`,
    )
  }
}

const decoder = new TextDecoder("utf8", { fatal: true })

/** Times keep their microseconds, JSON its text. */
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (value: bigint) => isoTimeOf(value * 1000n),
  timestampFromMicroseconds: (value: bigint) => isoTimeOf(value),
  timestampFromNanoseconds: (value: bigint) => isoTimeOf(value / 1000n),
  stringFromBytes: (bytes: Uint8Array) => bytes && decoder.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array) => bytes && new JsonText(decoder.decode(bytes)),
}

type Decompress = (bytes: Uint8Array, length: number) => Uint8Array

function bounded(decompress: Decompress): Decompress {
  return (bytes, length) => {
    if (length > mostPageBytes) throw new Error(`a page declares ${length} bytes; at most ${mostPageBytes} are read`)
    return length === 0 ? new Uint8Array() : decompress(bytes, length)
  }
}

const compressors: Compressors = {
  SNAPPY: bounded((bytes, length) => {
    const page = new Uint8Array(length)
    snappyUncompress(bytes, page)
    return page
  }),
  GZIP: bounded((bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength })),
  ZSTD: bounded((bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })),
  BROTLI: bounded((bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength })),
}

/** Whatever the reader stumbles over is in the file. */
function unreadable(error: unknown): never {
  const { message } = error as Error
  throw new HeddleError("invalid_request", `the body is not a Parquet file that can be read: ${message}`, {
    cause: error,
  })
}
