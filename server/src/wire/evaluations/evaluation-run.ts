/** Evaluation runs, predictions and scores: evaluation-store-objects 7, the families that are calls. */
import { z } from "zod"
import { boundedList, keyList } from "../bounded-list.ts"
import { jsonValue } from "../json-value.ts"
import { projectParams } from "../calls/call-write.ts"
import { listRangeQuery, nameList } from "../queries/list-query.ts"

const text = z.string().nullable()
const free = z.record(z.string(), jsonValue)
const given = z.string().nullish()

/** Ids to delete come in the query or in the body, under the name of the family's ids. */
export const idsQuery = (name: string) => z.object({ [name]: nameList })
export const idsBody = (name: string) => z.object({ [name]: keyList.nullish() }).nullish()

export const finished = z.object({ success: z.literal(true) })
/** Calls that are gone now: those named and all below them. */
export const callsDeletedAnswer = z.object({ num_deleted: z.int() })

export const evaluationRunCreateBody = z.object({
  evaluation: z.string(),
  model: z.string(),
  /** The run that this one scores again. */
  source_evaluation_run_id: given,
})
export const evaluationRunCreated = z.object({ evaluation_run_id: z.string() })
export const evaluationRunParams = projectParams.extend({ evaluation_run_id: z.string() })
export const evaluationRunFinishBody = z
  .object({
    summary: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe("What the run found; the means of its scores are added."),
  })
  .nullish()
export const evaluationRun = z.object({
  evaluation_run_id: z.string(),
  evaluation: z.string(),
  model: z.string(),
  status: z.enum(["running", "success", "error", "descendant_error"]),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  summary: free.nullable(),
  source_evaluation_run_id: text,
})
export const evaluationRunListQuery = listRangeQuery.extend({
  evaluations: nameList,
  models: nameList,
  evaluation_run_ids: nameList,
  /** Older names of the first two. */
  evaluation_refs: nameList,
  model_refs: nameList,
})

/** A span of `/agents/spans/query` that the prediction produced. */
export const spanRef = z.object({ trace_id: z.string(), span_id: z.string() })

/** `inputs` and `output` stay text when a request is read. */
export const predictionCreateBody = z.object({
  model: z.string(),
  inputs: z.record(z.string(), jsonValue),
  output: jsonValue,
  evaluation_run_id: given,
  genai_span_ref: boundedList(spanRef, 1000).nullish(),
})
export const predictionCreated = z.object({ prediction_id: z.string() })
export const predictionParams = projectParams.extend({ prediction_id: z.string() })
export const prediction = z.object({
  prediction_id: z.string(),
  model: z.string(),
  inputs: free,
  output: jsonValue,
  evaluation_run_id: text,
  wb_user_id: text,
})

/** List query of predictions and of scores. */
export const ofRunListQuery = listRangeQuery.extend({ evaluation_run_id: z.string().optional() })

/** `value` stays text when a request is read. */
export const scoreCreateBody = z.object({
  prediction_id: z.string(),
  /** Ref of an object or op. */
  scorer: z.string(),
  value: jsonValue,
  evaluation_run_id: given,
})
export const scoreCreated = z.object({ score_id: z.string() })
export const score = z.object({
  score_id: z.string(),
  scorer: z.string(),
  value: jsonValue,
  evaluation_run_id: text,
  wb_user_id: text,
})

export type EvaluationRunCreate = z.output<typeof evaluationRunCreateBody>
export type EvaluationRunList = z.output<typeof evaluationRunListQuery>
export type OfRunList = z.output<typeof ofRunListQuery>
export type SpanRef = z.output<typeof spanRef>
