/**
 * What a Parquet file says of itself, held to bounds before it is read by that: whoever made it may have declared what is not
 * so, such as a thousand columns that all lie at the same gigabyte.
 */
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  type ParquetParsers,
  type RowGroup,
  type SchemaElement,
} from "hyparquet"
import { asyncBufferFromFile } from "hyparquet/src/node.js"
import { HeddleError } from "../../errors.ts"

/** Bytes of a row group, decoded; writers make groups of 64 MiB or so. */
const mostGroupBytes = 1024 ** 3
const mostGroupRows = 1_048_576
/** Of what stands at the end of a file and says where everything is: some 200 bytes for each column of each group. */
const mostFooterBytes = 64 * 1024 ** 2
/** "PAR1". */
const magic = 0x31524150
/** Rows that are the same throughout take few bytes, but not none. */
const mostRowsOfByte = 1000
/** Groups that take less than this together are read together. */
const fewBytes = 16 * 1024 ** 2

interface ParquetFile {
  file: AsyncBuffer
  metadata: FileMetaData
}

/** @throws {HeddleError} 400 no Parquet file, too many columns; 413 one that would take too much memory. */
export async function openParquet(
  name: string,
  mostColumns: number,
  parsers: Partial<ParquetParsers>,
): Promise<ParquetFile> {
  const file = await asyncBufferFromFile(name)
  await checkFooter(file)
  const metadata = await parquetMetadataAsync(file, { parsers, initialFetchSize: 65_536 }).catch(unreadable)
  checkSize(metadata, file.byteLength)
  if (metadata.schema.length > mostColumns) {
    throw new HeddleError("invalid_request", `the Parquet file has more than ${mostColumns} columns`)
  }
  checkNames(metadata)
  return { file, metadata }
}

/** Whatever the reader stumbles over is in the file. */
export function unreadable(error: unknown): never {
  const { message } = error as Error
  throw new HeddleError("invalid_request", `the body is not a Parquet file that can be read: ${message}`, {
    cause: error,
  })
}

export function rowsOf({ row_groups }: FileMetaData): number {
  return row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0)
}

/** Bytes of what is read together at most, of which a reader holds the pages at one time. */
export function largestStretchBytes({ row_groups }: FileMetaData): number {
  const bytes = row_groups.map(bytesOf)
  const sum = bytes.reduce((total, one) => total + one, 0)
  const largest = bytes.reduce((most, one) => Math.max(most, one), fewBytes)
  return Math.min(sum, largest)
}

/** One past the last row that is read together with the row `from`: of one group, or of several that are small. */
export function stretchEnd({ row_groups }: FileMetaData, from: number, mostRows: number): number {
  let end = 0
  let bytes = 0
  let stretch = from
  for (const group of row_groups) {
    end += Number(group.num_rows)
    if (end <= from) continue
    bytes += bytesOf(group)
    if (stretch > from && bytes > fewBytes) break
    stretch = Math.min(end, from + mostRows)
    if (stretch === from + mostRows) break
  }
  return stretch
}

async function checkFooter(file: AsyncBuffer): Promise<void> {
  if (file.byteLength < 8) {
    throw unreadable(new Error(`it has ${file.byteLength} bytes, and the shortest Parquet file has more`))
  }
  const end = new DataView(await file.slice(file.byteLength - 8, file.byteLength))
  const bytes = end.getUint32(0, true)
  // Of what is no Parquet file, the reader says so.
  const isWhole = bytes <= file.byteLength - 8 && end.getUint32(4, true) === magic
  if (isWhole && bytes > mostFooterBytes)
    throw tooLarge(`has ${bytes} bytes of metadata at its end; write larger groups of rows`)
}

function checkSize(metadata: FileMetaData, bytes: number): void {
  if (rowsOf(metadata) > bytes * mostRowsOfByte) {
    throw tooLarge(`of ${bytes} bytes says that it has ${rowsOf(metadata)} rows`)
  }
  for (const [index, group] of metadata.row_groups.entries()) {
    const { num_rows: rows } = group
    if (rows >= 0 && rows <= mostGroupRows && bytesOf(group) <= mostGroupBytes) continue
    throw tooLarge(
      `has ${rows} rows and ${bytesOf(group)} bytes in row group ${index}; write groups of at most ${mostGroupRows} rows and ${mostGroupBytes} bytes`,
    )
  }
}

/** The reader gives rows as objects, in which of two columns of a name one is lost, and one that is named as the prototype. */
function checkNames({ schema }: FileMetaData): void {
  const rest = schema.values()
  const readChildren = (parent: SchemaElement): void => {
    const names = new Set(["__proto__"])
    for (let child = 0; child < (parent.num_children ?? 0); child++) {
      const { value: element } = rest.next()
      if (element === undefined) return
      if (names.has(element.name)) throw unreadableName(element.name)
      names.add(element.name)
      readChildren(element)
    }
  }
  const { value: root } = rest.next()
  if (root !== undefined) readChildren(root)
}

function unreadableName(name: string): HeddleError {
  const problem = name === "__proto__" ? "a column with a name that none may have" : "two columns of one name"
  return new HeddleError("invalid_request", `the Parquet file has ${problem}, "${name}"; rename it`)
}

/** Bytes of the group, decoded or as its columns lie in the file, which may be the same place. */
function bytesOf({ total_byte_size, columns }: RowGroup): number {
  const inFile = columns.map(({ meta_data }) => Math.max(0, Number(meta_data?.total_compressed_size ?? 0)))
  return Math.max(
    Number(total_byte_size),
    inFile.reduce((sum, one) => sum + one, 0),
  )
}

function tooLarge(what: string): HeddleError {
  return new HeddleError("payload_too_large", `the Parquet file ${what}`)
}
