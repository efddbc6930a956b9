/** Rows of JSON Lines, out of a stream: empty lines are none. */
import { HeddleError } from "../../errors.ts"
import type { HeldBody } from "../../http/body-budget.ts"
import type { ImportedRow } from "./imported-row.ts"

/** Of the evaluation store, a body that is held in memory has no more: calls 1.1. */
export const mostRowBytes = 32 * 1024 * 1024

const lineFeed = 0x0a

/** @throws {HeddleError} 413 a line is too long to be a row; 503 no room for it. */
export async function* jsonLinesRows(bytes: AsyncIterable<Buffer>, held: HeldBody): AsyncGenerator<ImportedRow> {
  let number = 0
  let line: Buffer[] = []
  let lineBytes = 0
  const take = (last: Buffer) => {
    const text = Buffer.concat([...line, last])
      .toString()
      .trim()
    line = []
    lineBytes = 0
    return text
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      const text = take(chunk.subarray(from, end))
      if (text !== "") yield { number: ++number, text }
      from = end + 1
    }
    line.push(chunk.subarray(from))
    lineBytes += chunk.length - from
    if (lineBytes > mostRowBytes) throw rowTooLarge(number + 1)
    await held.atLeast(lineBytes)
  }
  const last = take(Buffer.alloc(0))
  if (last !== "") yield { number: ++number, text: last }
}

export function rowTooLarge(number: number): HeddleError {
  return new HeddleError("payload_too_large", `row ${number} has more than ${mostRowBytes} bytes`)
}
