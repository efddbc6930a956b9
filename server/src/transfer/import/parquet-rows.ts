/**
 * Rows of a Parquet file, which is read from its end, so that it lies in a folder. What a hostile file may make of memory
 * is bounded by what it declares, which is held to bounds (`parquet-file.ts`), and by what its thread may take.
 */
import {
  type Compressors,
  type FileMetaData,
  parquetReadObjects,
  snappyUncompress,
  type ParquetParsers,
} from "hyparquet"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { isoTimeOf } from "../../storage/traces/query/sql-time.ts"
import { type RowOrError, rowText, RowError, rowTooLarge } from "./imported-row.ts"
import { type DecimalTexts, decimalTexts } from "./parquet-decimals.ts"
import { largestStretchBytes, openParquet, rowsOf, stretchEnd, unreadable } from "./parquet-file.ts"

/** Of one page; writers make pages of 1 MiB. */
const mostPageBytes = 128 * 1024 ** 2
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
  const { file, metadata } = await openParquet(name, mostColumns, parsers)
  const decimals = typed(metadata)
  const total = rowsOf(metadata)
  const rowEnd = stretchEnd(metadata, from, Math.min(most, rowsAtOnce))
  if (from >= rowEnd) return { rows: [], hasMore: false }
  const rows = await parquetReadObjects({ file, metadata, rowStart: from, rowEnd, compressors, parsers }).catch(
    unreadable,
  )
  const read: ValueReader = (column, value) => readValue(column, decimals(column, value))
  return { rows: rows.map((row, index) => readRow(from + index + 1, row, read)), hasMore: rowEnd < total }
}

/** Has the reader know JSON by the newer of its two names too, and leave decimals as they are stored. */
function typed(metadata: FileMetaData): DecimalTexts {
  for (const element of metadata.schema) if (element.logical_type?.type === "JSON") element.converted_type = "JSON"
  try {
    return decimalTexts(metadata)
  } catch (error) {
    return unreadable(error)
  }
}

/**
 * What the rows that are read together take, decoded: a reader holds the pages of those at a time.
 * @throws {HeddleError} as {@link parquetRows}.
 */
export async function largestReadBytes(name: string, mostColumns: number): Promise<number> {
  const { metadata } = await openParquet(name, mostColumns, parsers)
  return largestStretchBytes(metadata)
}

function readRow(number: number, row: Record<string, unknown>, readValue: ValueReader): RowOrError {
  try {
    return {
      number,
      text: rowText(Object.entries(row).map(([name, value]) => [name, readValue(name, value ?? null)] as const)),
    }
  } catch (error) {
    if (error instanceof RowError) return { number, error }
    // A text may have half a billion characters, and a row of few bytes in the file may stand for more.
    if (error instanceof RangeError) return { number, error: rowTooLarge() }
    throw error
  }
}

const decoder = new TextDecoder("utf8", { fatal: true })

/** Times keep their microseconds, JSON its text. */
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (value: bigint) => isoTimeOf(value * 1000n),
  timestampFromMicroseconds: (value: bigint) => isoTimeOf(value),
  timestampFromNanoseconds: (value: bigint) => isoTimeOf(value / 1000n),
  stringFromBytes: (bytes: Uint8Array) => bytes && textOf(bytes),
  jsonFromBytes: (bytes: Uint8Array) => bytes && new JsonText(textOf(bytes)),
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error("a column of texts holds bytes that are not UTF-8; write them as base64 texts")
  }
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
