/** Checks an SFT data file row by row, holding one row at a time: training-api 2.5. */
import type { Readable } from "node:stream"
import { isUtf8 } from "node:buffer"
import { parse } from "../../http/validation.ts"
import { maximumJsonDepth } from "../../json/json-text-error.ts"
import { isNestedDeeper } from "../../json/nesting.ts"
import { sftRow } from "../../wire/training/sft-job.ts"

const maximumRowBytes = 64 * 1024 * 1024
const newline = 0x0a

export interface CheckedRows {
  /** Rows up to the fault, blank lines not counted. */
  rows: number
  /** The fault with its line number, or null if every row is valid. */
  fault: string | null
}

export async function checkRows(content: Readable): Promise<CheckedRows> {
  let rows = 0
  let number = 0
  for await (const line of linesOf(content)) {
    number += 1
    const fault = faultOfRow(line)
    if (fault === "blank") continue
    if (fault !== null) return { rows, fault: `line ${number} of the training data: ${fault}` }
    rows += 1
  }
  return { rows, fault: null }
}

/**
 * How many batches of `batchSize` rows surely have a labelled token: those with a row of fewer than
 * `longBytes`. A longer one may be longer than the model takes, and such rows are dropped.
 */
export async function batchesSurelyLabelled(content: Readable, batchSize: number, longBytes: number): Promise<number> {
  let rows = 0
  const labelled = new Set<number>()
  for await (const line of linesOf(content)) {
    if (line.toString("utf8").trim() === "") continue
    if (line.length < longBytes) labelled.add(Math.floor(rows / batchSize))
    rows += 1
  }
  return labelled.size
}

function faultOfRow(line: Buffer): string | null {
  if (line.length > maximumRowBytes) return `longer than ${maximumRowBytes} bytes`
  if (!isUtf8(line)) return "not UTF-8"
  const text = line.toString("utf8")
  if (text.trim() === "") return "blank"
  if (isNestedDeeper(text, maximumJsonDepth)) return `nested in more than ${maximumJsonDepth} levels`
  try {
    parse(sftRow, JSON.parse(text), "body")
    return null
  } catch (error) {
    const { message } = error as Error
    return error instanceof SyntaxError ? `not JSON: ${message}` : message.replace(/^body\.?/, "")
  }
}

/** A line that is too long is cut, so that memory stays bounded; its length still shows it. */
async function* linesOf(content: Readable): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield Buffer.concat([...pieces, chunk.subarray(start, end)])
      pieces = []
      bytes = 0
      start = end + 1
    }
    const rest = chunk.subarray(start)
    bytes += rest.length
    if (bytes <= maximumRowBytes + chunk.length) pieces.push(rest)
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}
