/** Rows of JSON Lines: empty lines are none. */
import type { ImportedRow } from "./imported-row.ts"

const lineFeed = 0x0a

export function jsonLinesRows(bytes: Buffer, firstRow: number): ImportedRow[] {
  const rows: ImportedRow[] = []
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(lineFeed, from)
    const end = feed === -1 ? bytes.length : feed
    const text = bytes.toString("utf8", from, end).trim()
    if (text !== "") rows.push({ number: firstRow + rows.length, text })
    from = end + 1
  }
  return rows
}
