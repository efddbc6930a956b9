/** A row of a file, whatever its format, as the JSON text of an object. */
import { type JsonMember, objectText } from "../../json/json-members.ts"

export interface ImportedRow {
  /** From 1; a header does not count. */
  number: number
  /** JSON text. */
  text: string
}

/** A cell that a file cannot mean; it goes into the report. */
export class RowError extends Error {
  override readonly name = "RowError"
  readonly column: string | null
  /** As it came, for the report. */
  readonly value: string | null

  constructor(message: string, column: string | null = null, value: string | null = null) {
    super(message)
    this.column = column
    this.value = value
  }
}

/** A row that cannot be read at all stands among the others, so that its number is told. */
export interface UnreadableRow {
  number: number
  error: RowError
}

export type RowOrError = ImportedRow | UnreadableRow

/** A row out of its cells: JSON texts, or null for a cell that is not there. */
export function rowText(cells: readonly (readonly [name: string, text: string | null])[]): string {
  return objectText(cells.filter((cell): cell is JsonMember => cell[1] !== null))
}
