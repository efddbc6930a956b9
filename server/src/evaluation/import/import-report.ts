/** What an import did: how many rows, and the first that could not be taken. */
import { HeddleError } from "../../errors.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import type { ImportReport } from "../../wire/evaluation/import.ts"
import { RowError } from "./imported-row.ts"

const mostErrors = 100
const mostValueCharacters = 200

export class Report {
  #imported = 0
  #failed = 0
  readonly #errors: ImportReport["errors"] = []

  stored(rows: number): void {
    this.#imported += rows
  }

  /** @throws what is no fault of the row. */
  failed(row: number, error: unknown): void {
    const found = finding(error)
    this.#failed += 1
    if (this.#errors.length < mostErrors) this.#errors.push({ row, ...found })
  }

  answer(): ImportReport {
    return { imported: this.#imported, failed: this.#failed, errors: this.#errors }
  }
}

function finding(error: unknown): Omit<ImportReport["errors"][number], "row"> {
  if (error instanceof RowError) {
    return { column: error.column, value: error.value?.slice(0, mostValueCharacters) ?? null, message: error.message }
  }
  if (error instanceof JsonTextError) return { column: null, value: null, message: `is not JSON: ${error.message}` }
  if (!(error instanceof HeddleError) || error.status >= 500) throw error
  const [issue] = error.details.issues ?? []
  if (issue === undefined) return { column: null, value: null, message: error.message }
  return { column: issue.loc.slice(1).join(".") || null, value: null, message: issue.msg }
}
