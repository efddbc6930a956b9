/**
 * Cells of a dataset in CSV. A cell that is JSON means that; any other is a text. A text that would
 * be taken for JSON is written as JSON, between quotes: so a row comes back as it was, and a table
 * that a person made needs no quoting.
 */
import { JsonCursor, stringOf } from "../../json/json-cursor.ts"
import { JsonTextError } from "../../json/json-text-error.ts"

/** The JSON text that a cell means. */
export function cellJson(cell: string): string {
  const text = cell.trim()
  return isJson(text) ? text : JSON.stringify(cell)
}

/** The cell that means a JSON text. */
export function jsonCell(json: string): string {
  if (!json.startsWith('"')) return json
  const text = stringOf(json)
  return text.isWellFormed() && !isJson(text.trim()) ? text : json
}

const firstOfJson = /^[-{["0-9tfn]/

function isJson(text: string): boolean {
  if (!firstOfJson.test(text)) return false
  try {
    const cursor = new JsonCursor(text)
    const value = cursor.value()
    cursor.end()
    // The cursor lets pass what Python adds to JSON.
    return !/^(-?Infinity|NaN)$/.test(value)
  } catch (error) {
    if (error instanceof JsonTextError) return false
    throw error
  }
}

const formulaStart = /^\s*[=+\-@]/

/** One line; null: no cell. An empty text is between quotes, which tells it from none. */
export function csvLine(cells: readonly (string | null)[], spreadsheetSafe: boolean): string {
  return `${cells.map((cell) => (cell === null ? "" : csvCell(cell, spreadsheetSafe))).join(",")}\n`
}

function csvCell(cell: string, spreadsheetSafe: boolean): string {
  const text = spreadsheetSafe && formulaStart.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell
  return text === "" || /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
