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

/** Bytes of one row, as many as the evaluation store's bodies that are held in memory may have: calls 1.1. */
export const mostRowBytes = 32 * 1024 * 1024

export function rowTooLarge(): RowError {
  return new RowError(`has more than ${mostRowBytes} bytes`)
}

/**
 * A row out of its cells: JSON texts, or null for a cell that is not there.
 * @throws {RowError} more than {@link mostRowBytes}: few bytes of a compressed file may stand for many.
 */
export function rowText(cells: readonly (readonly [name: string, text: string | null])[]): string {
  const members = cells.filter((cell): cell is JsonMember => cell[1] !== null)
  const characters = members.reduce((sum, [, text]) => sum + text.length, 0)
  if (characters > mostRowBytes) throw rowTooLarge()
  return objectText(members)
}
