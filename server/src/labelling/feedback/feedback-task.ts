/** From the body of a request to stored feedback, as a task that may run on another thread: evaluation-store-objects 2.3 and 5. */
import { HeddleError } from "../../errors.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import {
  contentDigest,
  feedbackLines,
  type FeedbackRow,
  type StoredFeedback,
} from "../../storage/traces/labelling/feedback-rows.ts"
import type { CountedLines } from "../../storage/traces/counted-lines.ts"
import { isoTimeOf } from "../../storage/traces/query/sql-time.ts"
import { threadTask } from "../../threads/thread-task.ts"
import type { FeedbackFields } from "../../wire/labelling/feedback.ts"
import { ensureProjectIds } from "../../objects/payload/payload-lookups.ts"
import { readFeedback, readFeedbackBatch, readFeedbackReplacement } from "./feedback-body.ts"
import { attemptKey, type FeedbackAttempt, madeId, replacementId } from "./feedback-attempts.ts"
import { lookUpFeedback, type FeedbackLookup } from "./feedback-lookups.ts"
import { type FeedbackItem, feedbackRow } from "./feedback-row.ts"
import { checkFeedback } from "./feedback-types.ts"
import { checkPayloadSize } from "./payload-size.ts"

/** Feedback that the server itself makes, or that comes in another form than a request for it. */
export interface NewFeedback {
  fields: FeedbackFields
  /** JSON text of an object. */
  payload: string
  /** Creation time (ISO 8601) and author of feedback that was made elsewhere. */
  createdAt?: string
  userId?: string
}

export type SentFeedback =
  | { form: "one" | "batch" | "replacement"; bytes: Buffer }
  | { form: "items"; items: readonly NewFeedback[] }

export type FeedbackInput = SentFeedback & {
  /** User id of the caller. */
  userId: string
}

/** Rows to store, all or none. */
export interface FeedbackResult extends CountedLines {
  /** A JSON list: what is answered of each item. */
  answers: Buffer
  attempt: FeedbackAttempt
}

/** Every item is checked before any is stored. @throws {HeddleError} 400, 403, 404, 409, 413, 422. */
export const feedbackTask = threadTask<FeedbackInput, FeedbackResult, FeedbackLookup, unknown>({
  name: "feedback",
  ownThreadBytes: 64 * 1024,
  *run(input) {
    const { userId } = input
    const key = attemptKey(userId, input.form, contentOf(input))
    const { items, replaced } = readItems(input, key)
    const checked = items.map((item) => {
      checkPayloadSize(item.payload)
      return { item, family: checkFeedback(item.body) }
    })
    const projects = yield* ensureProjectIds(new Set(items.map(({ body }) => body.project_id)))
    const placed = checked.map((one) => ({ ...one, projectId: projects.get(one.item.body.project_id) as string }))
    yield* checkQueues(placed)
    yield* checkAnnotations(placed)
    const found = yield* storedBefore(placed)
    const attempt = yield* lookUpFeedback("attempt", { key })
    // A microsecond apart, so that a list in the order of time is in the order of the batch.
    const rows = placed.map(({ item, family, projectId }, index) => {
      const createdAt = item.createdAt ?? isoTimeOf(BigInt(attempt.now) * 1000n + BigInt(index))
      const id = item.body.id || madeId(attempt, index)
      return feedbackRow(item, family, { id, projectId, userId: item.userId ?? userId, createdAt })
    })
    const [row] = rows
    // Replaced by itself, it is only changed.
    const isChanged = replaced !== null && row?.id === replaced
    const { answered, added } = isChanged ? { answered: rows, added: rows } : withoutRetries(rows, found)
    const deleted =
      replaced === null || isChanged || row === undefined ? [] : [{ project_id: row.project_id, id: replaced }]
    return {
      ...feedbackLines(added, deleted),
      attempt,
      answers: Buffer.from(`[${answered.map(answerText).join(",")}]`),
    }
  },
})

/** `replaced`: the id of the feedback whose place the one item takes; null: none. `key`: the request's `attemptKey`. */
function readItems(sent: SentFeedback, key: string): { items: FeedbackItem[]; replaced: string | null } {
  switch (sent.form) {
    case "one":
      return { items: [readFeedback(sent.bytes)], replaced: null }
    case "batch":
      return { items: readFeedbackBatch(sent.bytes), replaced: null }
    case "replacement": {
      const { feedbackId, item } = readFeedbackReplacement(sent.bytes)
      const body = { ...item.body, id: item.body.id || replacementId(key) }
      return { items: [{ ...item, body }], replaced: feedbackId }
    }
    case "items":
      return { items: sent.items.map(madeItem), replaced: null }
  }
}

function contentOf(sent: SentFeedback): Buffer | string {
  return sent.form === "items" ? JSON.stringify(sent.items) : sent.bytes
}

function madeItem({ fields, payload, ...made }: NewFeedback): FeedbackItem {
  const text = withoutNotFinite(payload)
  return { ...made, body: { ...fields, payload: JSON.parse(text) as Record<string, unknown> }, payload: text }
}

interface PlacedItem {
  item: FeedbackItem
  projectId: string
}

function* checkQueues(placed: readonly PlacedItem[]): Generator<FeedbackLookup, void> {
  const named = placed.flatMap(({ item, projectId }) =>
    item.body.queue_id ? [{ projectId, id: item.body.queue_id }] : [],
  )
  if (named.length > 0) yield* lookUpFeedback("queues", { named })
}

/** The values of each spec together. */
function* checkAnnotations(placed: readonly PlacedItem[]): Generator<FeedbackLookup, void> {
  const annotated = placed.filter(({ item }) => item.body.annotation_ref)
  const bySpec = Map.groupBy(annotated, ({ item, projectId }) => `${projectId} ${item.body.annotation_ref}`)
  const annotations = Array.from(bySpec.values(), (ofSpec) => {
    const [{ item, projectId }] = ofSpec as [PlacedItem]
    const values = ofSpec.map((one) => JSON.stringify(one.item.body.payload["value"]))
    return { projectId, ref: item.body.annotation_ref as string, values }
  })
  if (annotations.length > 0) yield* lookUpFeedback("annotations", { annotations })
}

/** Under the ids that clients gave: one that is made here is new. */
function* storedBefore(placed: readonly PlacedItem[]): Generator<FeedbackLookup, readonly StoredFeedback[]> {
  const named = placed.flatMap(({ item, projectId }) => (item.body.id ? [{ projectId, id: item.body.id }] : []))
  return named.length === 0 ? [] : yield* lookUpFeedback("feedback", { named })
}

/**
 * A row whose id is taken is a retry when it says the same; it is answered and not written again.
 * @throws {HeddleError} `conflict` when it says something else.
 */
function withoutRetries(rows: readonly FeedbackRow[], found: readonly StoredFeedback[]) {
  const taken = new Map<string, Pick<StoredFeedback, "created_at" | "content_digest">>()
  for (const row of found) taken.set(keyOf(row), row)
  const answered: FeedbackRow[] = []
  const added: FeedbackRow[] = []
  for (const row of rows) {
    const digest = contentDigest(row)
    const before = taken.get(keyOf(row))
    if (before === undefined) {
      taken.set(keyOf(row), { created_at: row.created_at, content_digest: digest })
      added.push(row)
    } else if (before.content_digest !== digest) {
      throw new HeddleError("conflict", `feedback ${row.id} exists with other content; leave id out or replace it`)
    }
    answered.push(before === undefined ? row : { ...row, created_at: before.created_at })
  }
  return { answered, added }
}

function keyOf({ project_id, id }: { project_id: string; id: string }): string {
  return `${project_id}/${id}`
}

function answerText({ id, created_at, wb_user_id, payload }: FeedbackRow): string {
  return `${JSON.stringify({ id, created_at, wb_user_id }).slice(0, -1)},"payload":${payload}}`
}
