import type { EvalRun } from "../../../evaluations/eval-run.ts"

export interface ComparedRun {
  run: EvalRun
  /** Model and version. */
  label: string
}
