/** Checks an SFT data file row by row, holding one row at a time: training-api 2.5. */
import type { Readable } from "node:stream"
import type { ThreadPool } from "../../threads/thread-pool.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { faultOfRow, maximumRowBytes, sftRowTask } from "./sft-row-task.ts"

const newline = 0x0a

export interface CheckedRows {
  /** Rows up to the fault, blank lines not counted. */
  rows: number
  /** The fault with its line number, or null if every row is valid. */
  fault: string | null
}

export async function checkRows(content: Readable, threads: ThreadPool): Promise<CheckedRows> {
  let rows = 0
  let number = 0
  for await (const line of linesOf(content)) {
    number += 1
    const fault = await faultOf(line, threads)
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

/** Most rows are small, and there may be a million of them: those are checked right here. */
async function faultOf(line: Buffer, threads: ThreadPool): Promise<string | null> {
  const bytes = line.length
  if (bytes < sftRowTask.ownThreadBytes || bytes > maximumRowBytes) return faultOfRow(line)
  return (await threads.run(sftRowTask, { line }, { bytes, answer: noLookups })).fault
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
