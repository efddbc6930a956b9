/** History of runs: a map from step to columns, however many writers and lines it came from. */
import { usageOf } from "../../team-usage.ts"
import { insertCounted } from "../counted-lines.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { answerBytes, jobSegments, ofRun, type RunKey } from "./run-tables.ts"

/** Stores rows of `run_history` given as JSON Lines. */
export async function insertHistory(traces: TraceStore, projectId: string, lines: Buffer): Promise<void> {
  if (lines.length === 0) return
  await insertCounted(traces, "run_history", { lines, bytesOf: new Map([[projectId, lines.length]]) })
}

export interface HistoryEnd {
  /** Offset of the next line, if the run has one writer. */
  nextLine: number
  /** -1: there are no rows. */
  firstStep: number
  lastStep: number
}

export async function historyEnd(traces: TraceStore, run: RunKey): Promise<HistoryEnd> {
  const [row] = await traces.rows<{ next: string; first: string; last: string }>(
    `select if(countIf(segment = '') = 0, 0, maxIf(line, segment = '') + 1) as next,
      if(count() = 0, -1, min(step)) as first, if(count() = 0, -1, max(step)) as last from run_history where ${ofRun}`,
    { ...run },
    { kind: "lookup" },
  )
  return { nextLine: Number(row?.next ?? 0), firstStep: Number(row?.first ?? -1), lastStep: Number(row?.last ?? -1) }
}

/** The texts that make up one row, the first that came first: what clients logged for one step, or a job of the server. */
export interface StepTexts {
  step: number
  texts: string[]
}

/** Lines that clients log for one step make one row; a training job's row stays separate. */
export const writer = `if(startsWith(segment, '${jobSegments}'), segment, '')`

export interface StepRange {
  /** Inclusive. */
  from: number | null
  /** Exclusive. */
  to: number | null
  /** Steps that have all of these keys; empty: any. */
  keys: readonly string[]
}

/**
 * At most `samples` steps of a range, spread over it, the first and the last among them, with all rows of each.
 * What a step holds is chosen by its number first, so that only the chosen steps' texts are read.
 */
export async function readHistory(
  traces: TraceStore,
  run: RunKey,
  { from, to, keys }: StepRange,
  samples: number,
): Promise<StepTexts[]> {
  const parameters = new SqlParameters()
  const conditions = [
    `project_id = ${parameters.bind(run.projectId, "UUID")}`,
    `run_id = ${parameters.bind(run.runId, "UUID")}`,
    ...(from === null ? [] : [`step >= ${parameters.bind(from, "Int64")}`]),
    ...(to === null ? [] : [`step < ${parameters.bind(to, "Int64")}`]),
  ]
  const where = conditions.join(" and ")
  const names = keys.map((key) => parameters.bind(key, "String"))
  const having = names.map((name) => `max(has(keys, ${name}))`).join(" and ")
  /** Selects `what` of the rows that have all of the keys, whichever of their lines has them. */
  const complete = (what: string) =>
    `select ${what} from run_history where ${where} group by step, ${writer} as writer ${having && `having ${having}`}`
  // A page that a client scans: the range has no more steps than are wanted.
  const isWhole = from !== null && to !== null && to - from <= samples
  const most = isWhole ? "" : parameters.bind(samples, "UInt64")
  const choice = `with (select arraySort(groupUniqArray(step)) from (${complete("step")})) as steps,
      length(steps) as total, least(${most}, total) as chosen,
      arrayMap(i -> steps[intDiv(i * (total - 1), greatest(chosen - 1, 1)) + 1], range(chosen)) as wanted`
  const lines = await traces.rows<Line>(
    `${isWhole ? "" : choice}
    select step, ${writer} as writer, text from run_history final where ${where}
      ${isWhole ? "" : "and step in (select arrayJoin(wanted))"}
      ${having && `and (step, writer) in (${complete("step, writer")})`}
    order by step, writer, version`,
    parameters.values,
    // Scans ask again and again: compiled, the same page would take twice as long.
    { resultBytes: answerBytes, few: isWhole },
  )
  return joined(lines)
}

interface Line {
  step: string
  writer: string
  text: string
}

/** Rows of lines that come in the order of rows. */
function joined(lines: readonly Line[]): StepTexts[] {
  const rows: StepTexts[] = []
  let texts: string[] = []
  let before: Line | null = null
  for (const line of lines) {
    if (before === null || line.step !== before.step || line.writer !== before.writer) {
      texts = []
      rows.push({ step: Number(line.step), texts })
    }
    texts.push(line.text)
    before = line
  }
  return rows
}

export interface HistoryKey {
  key: string
  type: string
  count: number
  /** The last step that has it. */
  lastStep: number
}

export async function historyKeys(traces: TraceStore, run: RunKey): Promise<HistoryKey[]> {
  const rows = await traces.rows<{ key: string; type: string; count: string; last: string }>(
    `select key, type, count() as count, max(step) as last from run_history final
      array join keys as key, types as type where ${ofRun} group by key, type order by key, type`,
    { ...run },
  )
  return rows.map(({ key, type, count, last }) => ({ key, type, count: Number(count), lastStep: Number(last) }))
}

/** Bytes of the steps up to `step`, as they count for a team's quota. */
export async function historyBytes(traces: TraceStore, run: RunKey, step: number): Promise<number> {
  const [row] = await traces.rows<{ bytes: string }>(
    `select sum(byteSize(*)) as bytes from run_history final where ${ofRun} and step <= {step:Int64}`,
    { ...run, step },
  )
  return Number(row?.bytes ?? 0)
}

/** Begins the history of `to` with the steps of `from` up to `step`, numbered anew. `bytes`: their {@link historyBytes}. */
export async function forkHistory(
  traces: TraceStore,
  from: RunKey,
  to: RunKey,
  { step, bytes }: { step: number; bytes: number },
): Promise<void> {
  await traces.command(
    `insert into run_history (project_id, run_id, step, segment, line, text, keys, types)
    select {toProject:UUID}, {toRun:UUID}, step, ${writer} as writer,
      row_number() over (partition by writer order by step, version) - 1, text, keys, types
    from run_history final where ${ofRun} and step <= {step:Int64}`,
    { ...from, toProject: to.projectId, toRun: to.runId, step },
  )
  usageOf(traces)?.ofProject(to.projectId, bytes)
}

/** Takes the steps after `step` away; the next line follows the last that is left. */
export async function rewindHistory(traces: TraceStore, run: RunKey, step: number): Promise<void> {
  await traces.command(`delete from run_history where ${ofRun} and step > {step:Int64}`, { ...run, step })
}
