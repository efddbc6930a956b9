/** Outcome of an import: the number of rows, and the first that could not be taken. */
import { HeddleError, isPassing, isRefusal } from "../../errors.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import type { ImportReport } from "../../wire/transfer/import.ts"
import { type ImportedRow, RowError, type RowOrError } from "./imported-row.ts"
import type { FailedRows } from "./row-batch.ts"

const mostErrors = 100
const mostValueCharacters = 200

export class Report {
  #imported = 0
  readonly #failed = new RowFailures()

  stored(rows: number): void {
    this.#imported += rows
  }

  /** @throws what is no fault of the row. */
  failed(row: number, error: unknown): void {
    this.#failed.add(row, error)
  }

  add(failed: FailedRows): void {
    this.#failed.addAll(failed)
  }

  answer(): ImportReport {
    const { count, errors } = this.#failed
    return { imported: this.#imported, failed: count, errors }
  }
}

/** Rows that are not taken; only so many of them are told. */
export class RowFailures implements FailedRows {
  count = 0
  readonly errors: FailedRows["errors"] = []

  /** @throws what is no fault of the row. */
  add(row: number, error: unknown): void {
    const found = finding(error)
    this.count += 1
    if (this.errors.length < mostErrors) this.errors.push({ row, ...found })
  }

  /** Gives `take` each row that could be read; those it throws for failed too. @throws what is no fault of the row. */
  read(rows: readonly RowOrError[], take: (row: ImportedRow) => void): void {
    for (const row of rows) {
      try {
        if ("error" in row) throw row.error
        take(row)
      } catch (error) {
        this.add(row.number, error)
      }
    }
  }

  addAll({ count, errors }: FailedRows): void {
    this.count += count
    this.errors.push(...errors.slice(0, mostErrors - this.errors.length))
  }

  /** As it crosses to another thread, in the order of the rows. */
  toPlain(): FailedRows {
    return { count: this.count, errors: this.errors.toSorted((one, other) => one.row - other.row) }
  }
}

/** Whether other rows would fare no better now: a store is away or has too much to do, or the team holds what it may. */
export function isOfNoRow(error: unknown): boolean {
  return isPassing(error) || (error instanceof HeddleError && error.code === "quota_exceeded")
}

function finding(error: unknown): Omit<ImportReport["errors"][number], "row"> {
  if (error instanceof RowError) {
    return { column: error.column, value: error.value?.slice(0, mostValueCharacters) ?? null, message: error.message }
  }
  if (error instanceof JsonTextError) return { column: null, value: null, message: `is not JSON: ${error.message}` }
  if (!isRefusal(error) || isOfNoRow(error)) throw error
  const [issue] = error.details.issues ?? []
  if (issue === undefined) return { column: null, value: null, message: error.message }
  return { column: issue.loc.slice(1).join(".") || null, value: null, message: issue.msg }
}
