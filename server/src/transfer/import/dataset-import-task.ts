/** Rows of a part of a file, as they are stored in tables: evaluation-store-calls 6.1. */
import { HeddleError, invalid } from "../../errors.ts"
import { contentDigest } from "../../json/digests.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { tableLines, type TablePlace, tableRowLine } from "../../storage/traces/table-rows.ts"
import { plainTask, threadTask } from "../../threads/thread-task.ts"
import { RowBuffer } from "../../storage/traces/calls/insert/row-buffer.ts"
import { checkRowSize } from "../../objects/row-size.ts"
import type { PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import { RefNames } from "../../objects/refs/ref-names.ts"
import { batchRows, datasetCells } from "./batch-rows.ts"
import { RowFailures } from "./import-report.ts"
import { type ImportTarget, moveRefs } from "./import-target.ts"
import type { RowOrError } from "./imported-row.ts"
import type { ImportedBatch, RowBatch } from "./row-batch.ts"
import { digestLength } from "./row-digests.ts"

export interface DatasetImport extends ImportedBatch {
  /** JSON Lines for the table `table_rows`. */
  lines: Buffer
  /** Digests of the rows, concatenated: a million strings would take long to cross to another thread. */
  digests: Buffer
  count: number
}

const parquetRowsAtOnce = 8192

/** Reads the rows. If one cannot be read, nothing of the dataset is stored. */
export const importDatasetTask = threadTask<
  RowBatch & { target: ImportTarget; mostProjects: number },
  DatasetImport,
  PayloadLookup,
  unknown
>({
  name: "import/dataset",
  ownThreadBytes: 64 * 1024,
  async *run({ target, mostProjects, ...batch }) {
    const { rows, end } = await batchRows(batch, datasetCells, parquetRowsAtOnce)
    const made = new DatasetRows(target, new RefNames(mostProjects))
    made.read(rows)
    yield* made.names.resolve()
    made.hash()
    // Only a reader of JSON meets a ref that is spelled with escapes.
    yield* made.names.resolve()
    made.hash()
    return { ...made.stored(), failed: made.failures.toPlain(), end }
  },
})

interface DatasetRow {
  number: number
  text: string
  /** null: it is not known yet. */
  digest: string | null
}

class DatasetRows {
  readonly #target: ImportTarget
  readonly names: RefNames
  readonly failures = new RowFailures()
  #rows: DatasetRow[] = []

  constructor(target: ImportTarget, names: RefNames) {
    this.#target = target
    this.names = names
  }

  read(rows: readonly RowOrError[]): void {
    this.failures.read(rows, (row) => {
      const text = moveRefs(row.text, this.#target.project, this.#target.movedFrom)
      checkRowSize("it", text)
      this.names.expect(text)
      this.#rows.push({ number: row.number, text, digest: null })
    })
  }

  /** Computes the digests that it can; rows that name further projects wait until these are looked up. */
  hash(): void {
    this.#keep((row) => {
      row.digest ??= this.#digest(row.text)
    })
  }

  stored(): Pick<DatasetImport, "lines" | "digests" | "count"> {
    const lines = new RowBuffer(0)
    this.#keep(({ text, digest }) => {
      if (digest === null) throw new Error("a row has no digest, though the projects of every row were looked up")
      const stored = withoutNotFinite(this.names.external(text))
      checkRowSize(`table row ${digest}`, stored)
      lines.text(tableRowLine(this.#target.project.id, digest, stored))
    })
    const digests = Buffer.from(this.#rows.map(({ digest }) => digest).join(""), "latin1")
    return { lines: lines.bytes(), digests, count: this.#rows.length }
  }

  #keep(work: (row: DatasetRow) => void): void {
    this.#rows = this.#rows.filter((row) => {
      try {
        work(row)
        return true
      } catch (error) {
        this.failures.add(row.number, error)
        return false
      }
    })
  }

  #digest(text: string): string | null {
    const cursor = new JsonCursor(text)
    if (cursor.kind() !== "object") throw invalid(["row"], "Input should be a valid dictionary", "dict_type")
    const canonical = this.names.print(cursor)
    cursor.end()
    return canonical === null ? null : contentDigest(canonical)
  }
}

export interface TableStretch extends TablePlace {
  projectId: string
  digest: string
  /** Digests of the rows, concatenated. */
  digests: Buffer
}

/** Rows stored for a stretch of the table itself. */
export const tableStretchTask = plainTask({
  name: "import/table",
  ownThreadBytes: 256 * 1024,
  work: ({ projectId, digest, digests, ...place }: TableStretch) => ({
    lines: tableLines(projectId, digest, digestsIn(digests), place),
  }),
})

function digestsIn(bytes: Buffer): string[] {
  const text = bytes.toString("latin1")
  return Array.from({ length: text.length / digestLength }, (_, row) =>
    text.slice(row * digestLength, (row + 1) * digestLength),
  )
}

export function tooManyRows(most: number): HeddleError {
  return new HeddleError(
    "payload_too_large",
    `the file has more than ${most} rows, as many as an imported table may have`,
  )
}
