/** Parts of a file, each of whole rows, as they are handed to a task that reads them. */

export interface RowBatch {
  format: "jsonl" | "csv" | "parquet"
  /** The number of its first row, from 1; a header does not count. */
  firstRow: number
  /** Bytes of JSON Lines or CSV. */
  bytes: Buffer
  /** CSV columns, null if the batch starts with the header line; and the number of lines before the batch. */
  header: readonly string[] | null
  linesBefore: number
  /** Path of a Parquet file; the batch starts at its first row and ends where the task stops. */
  file: string
  mostColumns: number
}

/** Result of reading a batch. */
export interface BatchEnd {
  rows: number
  /** CSV columns. */
  header: readonly string[] | null
  /** Whether the Parquet file has more rows. */
  hasMore: boolean
}

/** Rows that were refused. */
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
