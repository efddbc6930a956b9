/** Rows of JSON Lines, out of a stream: empty lines are none. */
import { StringDecoder } from "node:string_decoder"
import { HeddleError } from "../../errors.ts"
import type { ImportedRow } from "./imported-row.ts"

/** Of the evaluation store, a body that is held in memory has no more: calls 1.1. */
export const mostRowCharacters = 32 * 1024 * 1024

/** @throws {HeddleError} 413 a line is too long to be a row. */
export async function* jsonLinesRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<ImportedRow> {
  const decoder = new StringDecoder("utf8")
  let number = 0
  let rest = ""
  for await (const chunk of bytes) {
    const lines = (rest + decoder.write(chunk)).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.trim() !== "") yield { number: ++number, text: line.trim() }
    if (rest.length > mostRowCharacters) throw rowTooLarge(number + 1)
  }
  const last = (rest + decoder.end()).trim()
  if (last !== "") yield { number: ++number, text: last }
}

export function rowTooLarge(number: number): HeddleError {
  return new HeddleError("payload_too_large", `row ${number} has more than ${mostRowCharacters} characters`)
}
