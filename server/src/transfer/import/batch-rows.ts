/** The rows of a part of a file, whatever its format, as JSON texts. It runs where the task that asks for them does. */
import type { Columns } from "../../storage/traces/transfer/printed-columns.ts"
import { cellJson } from "../export/dataset-cells.ts"
import { csvCells, parquetCells, valueText } from "./cells.ts"
import { type CellReader, csvRows } from "./csv-rows.ts"
import type { RowOrError } from "./imported-row.ts"
import { jsonLinesRows } from "./json-lines-rows.ts"
import { parquetRows, type ValueReader } from "./parquet-rows.ts"
import type { BatchEnd, RowBatch } from "./row-batch.ts"

/** Interpretation of a file's cells. */
interface Cells {
  csv: CellReader
  parquet: ValueReader
}

export interface BatchRows {
  rows: readonly RowOrError[]
  end: BatchEnd
}

/** `mostRows`: of a Parquet file. @throws {HeddleError} 400, 413. */
export async function batchRows(batch: RowBatch, cells: Cells, mostRows: number): Promise<BatchRows> {
  const { format, bytes, firstRow, mostColumns } = batch
  if (format === "jsonl") {
    const rows = jsonLinesRows(bytes, firstRow)
    return { rows, end: { rows: rows.length, header: null, hasMore: false } }
  }
  if (format === "csv") {
    const { rows, header } = csvRows(batch, cells.csv)
    return { rows, end: { rows: rows.length, header, hasMore: false } }
  }
  const from = firstRow - 1
  const { rows, hasMore } = await parquetRows(batch.file, { from, most: mostRows, mostColumns }, cells.parquet)
  return { rows, end: { rows: rows.length, header: null, hasMore } }
}

/** Turns the cells of calls and feedback back into the JSON that an export wrote. */
export function recordCells(columns: Columns): Cells {
  return { csv: csvCells(columns), parquet: parquetCells(columns) }
}

/** Takes dataset rows with any columns. */
export const datasetCells: Cells = {
  csv: (_, value) => (value === null ? null : cellJson(value)),
  parquet: (_, value) => (value === null ? null : valueText(value)),
}
