/** Work that a request leaves to the server: evaluation-store-calls 9, and the client generated into weave 0.54. */
import { z } from "zod"

const wb_user_id = z.string().nullish()
const mostCalls = 10_000
const mostScorers = 100

export const scoreCallsBody = z.object({
  project_id: z.string(),
  call_ids: z.array(z.string()).max(mostCalls),
  scorer_refs: z.array(z.string()).max(mostScorers),
  wb_user_id,
})
export type ScoreCallsBody = z.output<typeof scoreCallsBody>

export const runActionBody = z.object({
  project_id: z.string(),
  action_ref: z.string(),
  call_ids: z.array(z.string()).max(mostCalls),
  wb_user_id,
})
export type RunActionBody = z.output<typeof runActionBody>

export const evaluateModelBody = z.object({
  project_id: z.string(),
  evaluation_ref: z.string(),
  model_ref: z.string(),
  wb_user_id,
})
export type EvaluateModelBody = z.output<typeof evaluateModelBody>
export const evaluationStarted = z.object({ call_id: z.string() })

export const rescoreBody = z.object({
  project_id: z.string(),
  source_evaluation_run_id: z.string(),
  scorer_refs: z.array(z.string()).min(1).max(mostScorers),
  wb_user_id,
})
export type RescoreBody = z.output<typeof rescoreBody>
export const rescoreStarted = z.object({ call_id: z.string(), evaluation_run_id: z.string() })

export const evaluationStatusBody = z.object({ project_id: z.string(), call_id: z.string() })
export type EvaluationStatusBody = z.output<typeof evaluationStatusBody>

export const failureCount = z.object({
  failed: z.int(),
  /** How often it was tried. */
  of: z.int(),
  /** The first different ones, oldest first. */
  reasons: z.array(z.string()),
})

/** Not in the reference. */
export const evaluationFailures = z.object({
  predictions: failureCount,
  /** By name; only scorers that failed. */
  scorers: z.record(z.string(), failureCount),
})
export type FailureCount = z.output<typeof failureCount>
export type EvaluationFailures = z.output<typeof evaluationFailures>

export const evaluationStatus = z.object({
  status: z.discriminatedUnion("code", [
    z.object({ code: z.literal("not_found") }),
    z.object({ code: z.literal("running"), completed_rows: z.int(), total_rows: z.int() }),
    z.object({ code: z.literal("failed"), error: z.string().nullable() }),
    z.object({
      code: z.literal("complete"),
      output: z.record(z.string(), z.unknown()),
      /** Only where a prediction or a scorer failed. */
      failures: evaluationFailures.optional(),
    }),
  ]),
})
export type EvaluationStatus = z.output<typeof evaluationStatus>

export const nothing = z.object({})
