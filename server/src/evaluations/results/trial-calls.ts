/** Which of the calls below a trial are the model's and the scorers': evaluation-store-objects 7. */
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { isScoreCall, markersOf, stringAt } from "../runs/run-calls.ts"
import { opShortName } from "../runs/run-names.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"

export interface TrialCall {
  row: CallRow
  /** `inputs.self`; null: none. */
  self: string | null
}

/** The first that is the model's: bound to it, the model itself (a bare op), or named like it. */
export function predictCallOf(trial: CallRow, children: readonly TrialCall[]): CallRow | null {
  const model = stringAt(trial.inputs, "model")
  const found = children.find(
    ({ row, self }) =>
      !isScoreCall(row) &&
      ((model !== null && (self === model || row.op_name === model)) ||
        /predict|invoke/i.test(opShortName(row.op_name))),
  )
  return found?.row ?? null
}

/** By the name of each score that a call can be told for. */
export function scorerCallIds(
  names: readonly string[],
  children: readonly TrialCall[],
  predict: CallRow | null,
): Record<string, string> {
  const others = children.map(({ row }) => row).filter((row) => row.id !== predict?.id)
  const candidates = others.map(candidateOf)
  const ids = names.map((name) => [name, scorerCall(name, candidates)?.id] as const)
  return Object.fromEntries(ids.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** What tells whose call it is; found out once, since a trial may have many scores, and attributes are long to read. */
interface Candidate {
  id: string
  /** Of the scorer that its marker names; null: none. */
  marked: string | null
  /** Of its op, in small letters. */
  opName: string
  /** The same without its method. */
  bareName: string
  isScorer: boolean
}

function candidateOf(row: CallRow): Candidate {
  const opName = opShortName(row.op_name).toLowerCase()
  const bareName = opName.replace(/\.score$/, "")
  return { id: row.id, marked: markedName(row), opName, bareName, isScorer: isScorer(row) }
}

/** By its marker, then by its whole name, then by a part of it. The newest of equals, whose value counts. */
function scorerCall(name: string, candidates: readonly Candidate[]): Candidate | undefined {
  const wanted = name.toLowerCase()
  return (
    candidates.findLast(({ marked }) => marked === name) ??
    candidates.findLast(({ opName }) => opName === wanted || opName === `${wanted}.score`) ??
    candidates.findLast((one) => one.isScorer && (one.opName.includes(wanted) || wanted.includes(one.bareName)))
  )
}

function isScorer(row: CallRow): boolean {
  return isScoreCall(row) || /\.score|scorer/i.test(opShortName(row.op_name))
}

function markedName(row: CallRow): string | null {
  const { scorer } = markersOf(row)
  return typeof scorer === "string" ? (tryParseRef(scorer)?.name ?? null) : null
}
