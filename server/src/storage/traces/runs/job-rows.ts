/**
 * Rows that the server itself adds to the run of a model, for its training jobs (training-api 3.5). They are a stream of
 * their own beside those of clients: no line of one takes the place of another's, and rows of both at one step stay two.
 */
import { storedJson } from "../stored-json.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { insertHistory } from "./run-history.ts"
import { jobSegments, ofRun, type RunKey } from "./run-tables.ts"

export interface JobRow {
  /** From 1. The same row again takes the place of the first one. */
  line: number
  values: Readonly<Record<string, number>>
}

export interface JobPlace {
  /** The last line that is stored; 0: none. */
  lastLine: number
  /** Step of a line 0: a line's number is added to it. */
  firstStep: number
}

/** Where the rows of a job stand or, when it has none yet, would stand: behind all that the run has. */
export async function jobPlace(traces: TraceStore, run: RunKey, jobId: string): Promise<JobPlace> {
  const [row] = await traces.rows<{ count: string; first: string; last: string; end: string }>(
    `select countIf(segment = {segment:String}) as count, minIf(step - toInt64(line), segment = {segment:String}) as first,
      maxIf(line, segment = {segment:String}) as last, if(count() = 0, -1, max(step)) as end from run_history where ${ofRun}`,
    { ...run, segment: jobSegments + jobId },
    { kind: "lookup" },
  )
  if (row === undefined || row.count === "0") return { lastLine: 0, firstStep: Number(row?.end ?? -1) }
  return { lastLine: Number(row.last), firstStep: Number(row.first) }
}

export async function insertJobRows(
  traces: TraceStore,
  { projectId, runId }: RunKey,
  { jobId, firstStep, rows }: { jobId: string; firstStep: number; rows: readonly JobRow[] },
): Promise<void> {
  const lines = rows.map(({ line, values }) => {
    const step = firstStep + line
    const row = { _step: step, ...values }
    const keys = Object.keys(row)
    return storedJson({
      project_id: projectId,
      run_id: runId,
      step,
      segment: jobSegments + jobId,
      line,
      text: JSON.stringify(row),
      keys,
      types: keys.map(() => "number"),
    })
  })
  await insertHistory(traces, projectId, Buffer.from(lines.join("\n")))
}
