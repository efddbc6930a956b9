/** Parts of a file, each of whole rows, as they are handed to a task that reads them. */

export interface RowBatch {
  format: "jsonl" | "csv" | "parquet"
  /** The number of its first row, from 1; a header does not count. */
  firstRow: number
  /** Of JSON Lines and CSV. */
  bytes: Buffer
  /** Of CSV: the columns, null when the batch begins with the line that names them; and how many lines come before it. */
  header: readonly string[] | null
  linesBefore: number
  /** Of Parquet: its path; the batch goes from its first row as far as the task likes. */
  file: string
  mostColumns: number
}

/** What a task tells of a batch that it has read. */
export interface BatchEnd {
  rows: number
  /** Of CSV. */
  header: readonly string[] | null
  /** Of Parquet: whether the file has more rows. */
  hasMore: boolean
}

/** What became of rows that are not taken. */
export interface FailedRows {
  count: number
  /** The first of them. */
  errors: { row: number; column: string | null; value: string | null; message: string }[]
}

/** Every import task gives these. */
export interface ImportedBatch {
  end: BatchEnd
  failed: FailedRows
}
