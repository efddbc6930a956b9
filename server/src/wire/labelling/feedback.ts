/** Feedback: evaluation-store-objects 2.3, 2.4 and 5. Clients send null for what they leave unset. */
import { z } from "zod"
import { boundedList, textList } from "../bounded-list.ts"

const words = textList.nullish()
const reasons = z.record(z.string(), z.string()).nullish()
const scores = z.record(z.string(), z.number()).nullish()
const text = z.string().nullish()

export const feedbackCreateBody = z.looseObject({
  project_id: z.string(),
  weave_ref: z.string(),
  feedback_type: z.string(),
  payload: z.record(z.string(), z.unknown()),
  id: text,
  creator: text,
  annotation_ref: text,
  runnable_ref: text,
  call_ref: text,
  trigger_ref: text,
  queue_id: text,
  scorer_tags: words,
  scorer_tag_reasons: reasons,
  scorer_tag_confidences: scores,
  scorer_ratings: scores,
  scorer_rating_reasons: reasons,
  scorer_rating_confidences: scores,
  span_agent_name: text,
  span_agent_version: text,
  span_status_code: text,
  span_conversation_id: text,
  span_trace_id: text,
  scorer_trace_id: text,
})

/** Characters of the text of `wandb.note.1`. */
export const longestNote = 1024

/** Limit of one request; each entry is work for a store that all teams share. */
export const mostFeedback = 10_000

export const feedbackBatchBody = z.looseObject({ batch: boundedList(feedbackCreateBody, mostFeedback) })

export const feedbackReplaceBody = feedbackCreateBody.extend({ feedback_id: z.string() })

export const feedbackCreated = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  wb_user_id: z.string(),
  /** As it is stored, with what the server added. */
  payload: z.record(z.string(), z.unknown()),
})

export const feedbackBatchCreated = z.object({ res: z.array(feedbackCreated) })

export const feedbackPage = z.object({
  result: z.array(z.record(z.string(), z.unknown())),
  /** Rows that match, before `limit` and `offset`. */
  total_count: z.int().min(0),
})

export type FeedbackCreateBody = z.infer<typeof feedbackCreateBody>

/** All but the payload. */
export type FeedbackFields = Pick<FeedbackCreateBody, Exclude<keyof typeof feedbackCreateBody.shape, "payload">>
