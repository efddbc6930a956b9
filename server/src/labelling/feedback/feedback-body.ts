/** Bodies that carry feedback, read so that payloads stay the text they came as (law 3). */
import { z } from "zod"
import { parse } from "../../http/validation.ts"
import type { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { feedbackBatchBody, feedbackCreateBody, feedbackReplaceBody } from "../../wire/labelling/feedback.ts"
import type { FeedbackItem } from "./feedback-row.ts"
import { readBody } from "../../objects/requests/request-text.ts"

export function readFeedback(bytes: Buffer): FeedbackItem {
  const { body, document, texts } = read(bytes, feedbackCreateBody, "payload")
  return { body, payload: texts.of(document) }
}

export function readFeedbackBatch(bytes: Buffer): FeedbackItem[] {
  const { body, document, texts } = read(bytes, feedbackBatchBody, "batch.*.payload")
  const { batch } = document as { batch: unknown[] }
  return body.batch.map((item, index) => ({ body: item, payload: texts.of(batch[index]) }))
}

export function readFeedbackReplacement(bytes: Buffer): { feedbackId: string; item: FeedbackItem } {
  const { body, document, texts } = read(bytes, feedbackReplaceBody, "payload")
  return { feedbackId: body.feedback_id, item: { body, payload: texts.of(document) } }
}

/** The body parsed by the schema, the raw body, and the texts of the values at `place`. */
function read<T extends z.ZodType>(bytes: Buffer, schema: T, place: string) {
  const texts = new PayloadTexts()
  const { document } = readBody(wholeDocument, bytes, { [place]: texts.take })
  return { body: parse(schema, document, "body"), document, texts }
}

const wholeDocument = z.unknown().transform((document) => ({ document }))

/** By the value that was made of each, so that of a key that stands twice the last one counts. */
class PayloadTexts {
  readonly #texts = new Map<unknown, string>()

  readonly take = (cursor: JsonCursor): unknown => {
    const text = withoutNotFinite(cursor.value())
    const payload = JSON.parse(text) as unknown
    this.#texts.set(payload, text)
    return payload
  }

  of(item: unknown): string {
    const text = this.#texts.get((item as { payload: unknown }).payload)
    if (text === undefined) throw new Error("an item that fits the schema has a payload")
    return text
  }
}
