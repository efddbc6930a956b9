/** Bodies that carry feedback, read so that payloads stay the text they came as (law 3). */
import type { z } from "zod"
import type { JsonCursor } from "../json/json-cursor.ts"
import { withoutNotFinite } from "../json/json-parts.ts"
import { feedbackBatchBody, feedbackCreateBody, feedbackReplaceBody } from "../wire/evaluation/feedback.ts"
import type { NewFeedback } from "./feedback-create.ts"
import { readBody } from "./request-text.ts"

export function readFeedback(bytes: Buffer): NewFeedback {
  const { body, payloads } = read(bytes, feedbackCreateBody, "payload")
  return { body, payload: payloads[0] ?? "{}" }
}

export function readFeedbackBatch(bytes: Buffer): NewFeedback[] {
  const { body, payloads } = read(bytes, feedbackBatchBody, "batch.*.payload")
  return body.batch.map((item, index) => ({ body: item, payload: payloads[index] ?? "{}" }))
}

export function readFeedbackReplacement(bytes: Buffer): { feedbackId: string; item: NewFeedback } {
  const { body, payloads } = read(bytes, feedbackReplaceBody, "payload")
  return { feedbackId: body.feedback_id, item: { body, payload: payloads[0] ?? "{}" } }
}

/** The body, and the texts of the values at `place` in their order: in a body that parses, one for each item. */
function read<T extends z.ZodType>(bytes: Buffer, schema: T, place: string) {
  const payloads: string[] = []
  const take = (cursor: JsonCursor) => {
    const text = withoutNotFinite(cursor.value())
    payloads.push(text)
    return JSON.parse(text) as unknown
  }
  return { body: readBody(schema, bytes, { [place]: take }), payloads }
}
