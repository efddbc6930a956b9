/** System rows and console lines of runs. */
import { insertCounted } from "../counted-lines.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { answerBytes, ofRun, type RunKey } from "./run-tables.ts"

export type RunLineFile = "events" | "console"

/** Stores rows of `run_lines` given as JSON Lines. */
export async function insertRunLines(traces: TraceStore, projectId: string, lines: Buffer): Promise<void> {
  if (lines.length === 0) return
  await insertCounted(traces, "run_lines", { lines, bytesOf: new Map([[projectId, lines.length]]) })
}

/** One more than the number of the last line of the run's only writer. */
export async function runLineCount(traces: TraceStore, run: RunKey, file: RunLineFile): Promise<number> {
  const [row] = await traces.rows<{ next: string }>(
    `select if(count() = 0, 0, max(line) + 1) as next from run_lines
      where ${ofRun} and file = {file:String} and segment = ''`,
    { ...run, file },
    { kind: "lookup" },
  )
  return Number(row?.next ?? 0)
}

export interface NumberedLine {
  /** From 0, over all writers. */
  number: number
  text: string
}

export interface LineRange {
  from: number
  limit: number
  /** Count from the end. */
  isTail: boolean
}

/** Ascending. */
export async function readRunLines(
  traces: TraceStore,
  run: RunKey,
  file: RunLineFile,
  { from, limit, isTail }: LineRange,
): Promise<NumberedLine[]> {
  const direction = isTail ? "desc" : "asc"
  const rows = await traces.rows<{ number: string; text: string }>(
    `select number, text from (
      select row_number() over (order by segment, line) - 1 as number, text from run_lines final
      where ${ofRun} and file = {file:String}
    ) where number >= {from:UInt64} order by number ${direction} limit {limit:UInt64}`,
    { ...run, file, from, limit },
    { resultBytes: answerBytes },
  )
  const lines = rows.map(({ number, text }) => ({ number: Number(number), text }))
  return isTail ? lines.toReversed() : lines
}

/** At most `samples` lines of the whole file, the first and the last among them. */
export async function sampleRunLines(
  traces: TraceStore,
  run: RunKey,
  file: RunLineFile,
  samples: number,
): Promise<string[]> {
  const rows = await traces.rows<{ text: string }>(
    `with (select count() from run_lines final where ${ofRun} and file = {file:String}) as total,
      arrayMap(i -> toUInt64(intDiv(i * (total - 1), greatest(least({samples:UInt64}, total) - 1, 1))),
        range(least({samples:UInt64}, total))) as wanted
    select text from (
      select row_number() over (order by segment, line) - 1 as number, segment, line, text from run_lines final
      where ${ofRun} and file = {file:String}
    ) where has(wanted, toUInt64(number)) order by number`,
    { ...run, file, samples },
    { resultBytes: answerBytes },
  )
  return rows.map(({ text }) => text)
}

/** null: none. */
export async function lastRunLine(traces: TraceStore, run: RunKey, file: RunLineFile): Promise<string | null> {
  const [row] = await traces.rows<{ text: string }>(
    `select text from run_lines final where ${ofRun} and file = {file:String} order by line desc limit 1`,
    { ...run, file },
  )
  return row?.text ?? null
}
