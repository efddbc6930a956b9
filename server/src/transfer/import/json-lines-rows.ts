/** Rows of JSON Lines: empty lines are none. */
import { isUtf8 } from "node:buffer"
import { RowError, type RowOrError } from "./imported-row.ts"

const lineFeed = 0x0a

export function jsonLinesRows(bytes: Buffer, firstRow: number): RowOrError[] {
  const rows: RowOrError[] = []
  const isText = isUtf8(bytes)
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(lineFeed, from)
    const end = feed === -1 ? bytes.length : feed
    const number = firstRow + rows.length
    const text = bytes.toString("utf8", from, end).trim()
    // What is no UTF-8 would be stored as U+FFFD.
    if (!isText && !isUtf8(bytes.subarray(from, end))) rows.push({ number, error: new RowError("is not UTF-8") })
    else if (text !== "") rows.push({ number, text })
    from = end + 1
  }
  return rows
}
