/** How large one row of the store may be: evaluation-store-objects 3.1. */
import { HeddleError } from "../errors.ts"

const maximumRowBytes = 3.5 * 1024 * 1024

/** @throws {HeddleError} `insert_too_large`. */
export function checkRowSize(what: string, text: string): void {
  // A UTF-16 unit is three bytes at most: nearly no row needs to be counted.
  if (3 * text.length <= maximumRowBytes) return
  const bytes = Buffer.byteLength(text)
  if (bytes <= maximumRowBytes) return
  throw new HeddleError(
    "insert_too_large",
    `${what} has ${bytes} bytes; one row has at most ${maximumRowBytes}. Put large content into files or tables`,
  )
}
