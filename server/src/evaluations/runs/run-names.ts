/**
 * What marks the calls of evaluations: evaluation-store-objects 7. The markers are those of the
 * reference server, under `attributes.weave`; the SDKs, which write the same tree themselves, set none
 * of them and are known by the names of their ops.
 */
import { tryParseRef } from "../../objects/refs/refs.ts"

export const runOp = "Evaluation.evaluate"
export const summarizeOp = "Evaluation.summarize"

/** Members of `attributes.weave`; flags hold the text "true". */
export interface RunMarkers {
  evaluation_run?: "true"
  evaluation?: string
  source_evaluation_run_id?: string
  prediction?: "true"
  score?: "true"
  model?: string
  scorer?: string
  prediction_id?: string
  predict_call_id?: string
  evaluation_run_id?: string
  genai_span_ref?: readonly { trace_id: string; span_id: string }[]
}

/** `weave:///e/p/op/Evaluation.evaluate:<digest>` → `Evaluation.evaluate`; a plain name is itself. */
export function opShortName(opName: string): string {
  return tryParseRef(opName)?.name ?? opName
}

export function isRunOp(opName: string): boolean {
  return opShortName(opName) === runOp
}

/** True for the ops of Python and of npm, which name the op after its method. */
export function isPredictAndScoreOp(opName: string): boolean {
  return /\.(?:predict_and_score|predictAndScore)$/.test(opShortName(opName))
}
