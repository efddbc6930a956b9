/** Cuts a file that comes as a stream into parts of whole rows, which are not looked into further here. */
import { HeddleError } from "../../errors.ts"
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import { mostRowBytes } from "./imported-row.ts"

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Finds the ends of a format's rows. */
export interface RowEnds {
  /** One past the end of the last row that ends in the chunk; 0: none does. Chunks come in order. */
  last(chunk: Buffer): number
  /** Rows that ended so far, empty lines among them. */
  readonly count: number
}

export class LineEnds implements RowEnds {
  count = 0

  last(chunk: Buffer): number {
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) this.count++
    return chunk.lastIndexOf(lineFeed) + 1
  }
}

/** Line ends that no quotes are around. Two quotes in a row, which stand for one, change nothing. */
export class CsvEnds implements RowEnds {
  /** The line of the header is none of a row. */
  count = -1
  #isQuoted = false
  #afterReturn = false

  last(chunk: Buffer): number {
    let isQuoted = this.#isQuoted
    let afterReturn = this.#afterReturn
    let last = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      // A return alone ends a line too; the byte after it tells which it is.
      if (!isQuoted && (byte === lineFeed || afterReturn)) {
        last = byte === lineFeed ? at + 1 : at
        this.count++
      }
      if (byte === quote) isQuoted = !isQuoted
      afterReturn = byte === carriageReturn && !isQuoted
    }
    this.#isQuoted = isQuoted
    this.#afterReturn = afterReturn
    return last
  }
}

/**
 * Yields parts of whole rows, of `partBytes` at least where there is so much; the last one may lack its line end.
 * @throws {HeddleError} 413 a row is too long to be one; 503 no room for it.
 */
export async function* wholeRows(
  bytes: AsyncIterable<Buffer>,
  ends: RowEnds,
  { held, partBytes }: { held: HeldBody; partBytes: number },
): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let size = 0
  let whole = 0
  for await (const chunk of bytes) {
    const end = ends.last(chunk)
    if (end > 0) whole = size + end
    chunks.push(chunk)
    size += chunk.length
    if (size - whole > mostRowBytes) throw rowTooLarge(ends.count + 1)
    await held.atLeast(size)
    if (whole < partBytes) continue
    const all = Buffer.concat(chunks, size)
    // A copy: the part is moved to another thread, and its memory with it.
    chunks = [Buffer.from(all.subarray(whole))]
    size -= whole
    yield all.subarray(0, whole)
    whole = 0
  }
  if (size > 0) yield Buffer.concat(chunks, size)
}

function rowTooLarge(number: number): HeddleError {
  return new HeddleError("payload_too_large", `row ${number} has more than ${mostRowBytes} bytes`)
}
