/** A run of an evaluation: the call above its rows. */
import type { Call } from "../api/calls/calls.ts"
import { memberTexts } from "../json/json-text.ts"
import { callStatus, exceptionLine } from "../calls/call-names.ts"
import type { StatusKind } from "../components/signs/status.tsx"
import { refName } from "./refs.ts"

export interface EvalRun {
  id: string
  traceId: string
  /** Name of the evaluation. */
  evaluation: string
  /** As the run names it: a ref of one version; null: it names none. */
  evaluationRef: string | null
  /** A ref or a plain name; null: the run names none. */
  modelRef: string | null
  model: string
  /** Title given by a person or the SDK. */
  title: string | null
  status: StatusKind
  startedAt: string
  endedAt: string | null
  /** What it says, as lists show it. */
  exception: string | null
}

/** Evaluations of runs that name none. */
export const unnamed = "unnamed"

export function evalRunOf(call: Call): EvalRun {
  const inputs = call.inputs.startsWith("{") ? memberTexts(call.inputs) : new Map<string, string>()
  const textAt = (name: string) => {
    const text = inputs.get(name)
    return text?.startsWith('"') === true ? (JSON.parse(text) as string) : null
  }
  // npm's SDK calls the evaluation `this`.
  const evaluationRef = textAt("self") ?? textAt("this")
  const modelRef = textAt("model")
  return {
    id: call.id,
    traceId: call.trace_id,
    evaluation: evaluationRef === null ? unnamed : refName(evaluationRef),
    evaluationRef,
    modelRef,
    model: modelRef === null ? "no model named" : refName(modelRef),
    title: call.display_name ?? null,
    status: callStatus(call),
    startedAt: call.started_at,
    endedAt: call.ended_at ?? null,
    exception: call.exception == null ? null : exceptionLine(call.exception),
  }
}
