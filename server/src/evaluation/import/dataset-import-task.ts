/** Rows of a part of a file, as they are stored in tables: evaluation-store-calls 6.1. */
import { HeddleError, invalid } from "../../errors.ts"
import { contentDigest, tableDigest } from "../../json/digests.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { tableLines, tableRowLine } from "../../storage/traces/table-rows.ts"
import { plainTask, threadTask } from "../../threads/thread-task.ts"
import { RowBuffer } from "../../storage/traces/calls/row-buffer.ts"
import { checkRowSize } from "../objects/row-size.ts"
import type { PayloadQuestion } from "../payload/payload-question.ts"
import { RefNames } from "../refs/ref-names.ts"
import { batchRows, datasetCells } from "./batch-rows.ts"
import { RowFailures } from "./import-report.ts"
import { type ImportTarget, moveRefs } from "./import-target.ts"
import type { RowOrError } from "./imported-row.ts"
import type { ImportedBatch, RowBatch } from "./row-batch.ts"

export interface DatasetImport extends ImportedBatch {
  /** JSON Lines for the table `table_rows`. */
  lines: Buffer
  /** Of the rows, one after the other: a million texts would take long to cross to another thread. */
  digests: Buffer
  count: number
}

/** Characters of a row's digest, each a byte. */
const digestLength = 43

const parquetRowsAtOnce = 8192

/** What can be read of the rows; nothing is stored of a dataset of which one cannot. */
export const importDatasetTask = threadTask<
  RowBatch & { target: ImportTarget; mostProjects: number },
  DatasetImport,
  PayloadQuestion,
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

  /** Those that it can: the projects of the others have to be looked up first. */
  hash(): void {
    this.#keep((row) => {
      row.digest ??= this.#digest(row.text)
    })
  }

  stored(): Pick<DatasetImport, "lines" | "digests" | "count"> {
    const lines = new RowBuffer(0)
    const digests = new RowBuffer(digestLength * this.#rows.length)
    this.#keep(({ text, digest }) => {
      if (digest === null) throw new Error("the projects of every row were looked up")
      const stored = withoutNotFinite(this.names.external(text))
      checkRowSize(`table row ${digest}`, stored)
      lines.text(tableRowLine(this.#target.project.id, digest, stored))
      digests.text(digest)
    })
    return { lines: lines.bytes(), digests: digests.bytes(), count: this.#rows.length }
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

export interface WholeTable {
  projectId: string
  /** Parts of the digests of its rows. */
  digests: readonly Buffer[]
}

/** What is stored of the table itself, once all of its rows are. */
export const importedTableTask = plainTask({
  name: "import/table",
  ownThreadBytes: 256 * 1024,
  work: ({ projectId, digests }: WholeTable) => {
    const rowDigests = digests.flatMap(digestsIn)
    const digest = tableDigest(rowDigests)
    return { digest, lines: tableLines(projectId, digest, rowDigests) }
  },
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
