/** Rows of CSV (RFC 4180) whose first line names the columns. */
import { isUtf8 } from "node:buffer"
import { CsvError, type Options } from "csv-parse"
import { parse } from "csv-parse/sync"
import { HeddleError } from "../../errors.ts"
import { type RowOrError, rowText, RowError } from "./imported-row.ts"

/** Reads a cell of a column: its JSON text, or null for none. @throws {RowError} */
export type CellReader = (column: string, value: string | null) => string | null

export interface CsvPart {
  bytes: Buffer
  /** The columns; null: the part begins with the line that names them. */
  header: readonly string[] | null
  /** Lines of the file before this batch. */
  linesBefore: number
  firstRow: number
  mostColumns: number
}

export interface CsvRows {
  header: readonly string[] | null
  rows: RowOrError[]
}

/**
 * An unquoted empty cell is null, a quoted one the empty text.
 * @throws {HeddleError} 400 no CSV, not UTF-8, a column that stands twice, too many columns.
 */
export function csvRows(part: CsvPart, readCell: CellReader): CsvRows {
  requireUtf8(part)
  const records = recordsOf(part)
  const first = part.header === null ? records.shift() : undefined
  const header = part.header ?? (first === undefined ? null : columnNames(first))
  if (header === null) return { header, rows: [] }
  const cells = records.filter((record) => !isEmptyLine(record) || header.length === 1)
  return { header, rows: cells.map((record, index) => readRow(part.firstRow + index, header, record, readCell)) }
}

type Cell = string | null

/** The parser puts U+FFFD in the place of what it cannot read. */
function requireUtf8({ bytes, linesBefore }: CsvPart): void {
  if (isUtf8(bytes)) return
  let line = linesBefore + 1
  for (let from = 0; ; line++) {
    const end = bytes.indexOf("\n", from)
    if (end === -1 || !isUtf8(bytes.subarray(from, end))) break
    from = end + 1
  }
  const wayOut = "save the file as UTF-8, or convert it, such as with iconv -f latin1 -t utf-8"
  throw new HeddleError("invalid_request", `line ${line} of the CSV file is not UTF-8; ${wayOut}`)
}

function recordsOf({ bytes, header, linesBefore, mostColumns }: CsvPart): Cell[][] {
  const options: Options = {
    bom: header === null,
    relax_column_count: true,
    cast: (value, { quoting, index }) => {
      if (index >= mostColumns) throw tooManyColumns(mostColumns)
      return value === "" && !quoting ? null : value
    },
  }
  try {
    return parse(bytes, options)
  } catch (error) {
    throw unreadable(error, linesBefore)
  }
}

/** An empty line has one empty cell. With several columns it is no row; with one it is a row without a value. */
const isEmptyLine = (cells: readonly Cell[]) => cells.length === 1 && cells[0] === null

function columnNames(cells: readonly Cell[]): string[] {
  const names = cells.map((cell) => cell ?? "")
  const seen = new Set([""])
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice === undefined) return names
  const problem = twice === "" ? "a column without a name" : `the column "${twice}" twice`
  throw new HeddleError("invalid_request", `the first line of the CSV file has ${problem}; it must name every column`)
}

function readRow(number: number, names: readonly string[], cells: readonly Cell[], readCell: CellReader): RowOrError {
  if (cells.length !== names.length) {
    return {
      number,
      error: new RowError(`has ${cells.length} cells, and the first line names ${names.length} columns`),
    }
  }
  try {
    return { number, text: rowText(names.map((name, index) => [name, readCell(name, cells[index] ?? null)] as const)) }
  } catch (error) {
    if (error instanceof RowError) return { number, error }
    throw error
  }
}

function tooManyColumns(most: number): HeddleError {
  return new HeddleError("invalid_request", `a line of the CSV file has more than ${most} cells`)
}

/** The parser counts the lines of what it was given. */
function unreadable(error: unknown, linesBefore: number): unknown {
  if (!(error instanceof CsvError)) return error
  const message = error.message.replace(/\bline (\d+)/, (_, line: string) => `line ${Number(line) + linesBefore}`)
  return new HeddleError("invalid_request", `the body is not CSV: ${message}`, { cause: error })
}
