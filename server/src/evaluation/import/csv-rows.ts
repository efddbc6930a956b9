/** Rows of CSV (RFC 4180) whose first line names the columns. */
import { parse } from "csv-parse"
import { pipeline } from "node:stream"
import { HeddleError } from "../../errors.ts"
import type { HeldBody } from "../../http/body-budget.ts"
import { type RowOrError, rowText, RowError } from "./imported-row.ts"
import { mostRowBytes, rowTooLarge } from "./json-lines-rows.ts"

/** What a cell of a column means: its JSON text, or null for none. @throws {RowError} */
export type CellReader = (column: string, value: string | null) => string | null

/**
 * An unquoted empty cell is null, a quoted one the empty text.
 * @throws {HeddleError} 400 no CSV, a column that stands twice; 413 a row that is too long; 503 no room for it.
 */
export async function* csvRows(
  bytes: AsyncIterable<Buffer>,
  held: HeldBody,
  readCell: CellReader,
): AsyncGenerator<RowOrError> {
  const parser = parse({
    bom: true,
    relax_column_count: true,
    cast: (value, { quoting }) => (value === "" && !quoting ? null : value),
  })
  let names: string[] | null = null
  let number = 0
  let unfinished = 0
  // The parser's own limit does not count empty cells.
  async function* bounded() {
    for await (const chunk of bytes) {
      unfinished += chunk.length
      if (unfinished > mostRowBytes) throw rowTooLarge(number + 1)
      await held.atLeast(unfinished)
      yield chunk
    }
  }
  // A failure of either comes out of the parser.
  pipeline(bounded, parser, () => undefined)
  try {
    for await (const record of parser) {
      const cells = record as (string | null)[]
      unfinished = 0
      if (names === null) names = columnNames(cells)
      else if (!isEmptyLine(cells) || names.length === 1) yield readRow(++number, names, cells, readCell)
    }
  } catch (error) {
    throw unreadable(error)
  }
}

/** Of several columns none; of one, a row without it. */
const isEmptyLine = (cells: readonly (string | null)[]) => cells.length === 1 && cells[0] === null

function columnNames(cells: readonly (string | null)[]): string[] {
  const names = cells.map((cell) => cell ?? "")
  const seen = new Set([""])
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice === undefined) return names
  const problem = twice === "" ? "a column without a name" : `the column "${twice}" twice`
  throw new HeddleError("invalid_request", `the first line of the CSV file has ${problem}; it must name every column`)
}

function readRow(
  number: number,
  names: readonly string[],
  cells: readonly (string | null)[],
  readCell: CellReader,
): RowOrError {
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

function unreadable(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  if (!code?.startsWith("CSV_")) return error
  return new HeddleError("invalid_request", `the body is not CSV: ${message}`, { cause: error })
}
