/** Making feedback rows: evaluation-store-objects 2.3 and 5. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { liveQueueIds } from "../../storage/catalog/annotation-queues.ts"
import {
  contentDigest,
  type FeedbackRow,
  findFeedback,
  type StoredFeedback,
  writeFeedback,
} from "../../storage/traces/feedback/feedback-rows.ts"
import { isoTimeOf } from "../../storage/traces/query/sql-time.ts"
import type { FeedbackCreateBody } from "../../wire/evaluation/feedback.ts"
import { findAnnotationSpec } from "../objects/annotation-spec.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { nameEmoji } from "./emoji.ts"
import { checkAnnotationValue } from "./feedback-annotation.ts"
import { agentTarget } from "./feedback-refs.ts"
import { checkFeedback, familyOf } from "./feedback-types.ts"
import { type ProjectAccess, projectForWrite } from "../project-access.ts"

export interface NewFeedback {
  body: FeedbackCreateBody
  /** JSON text of `body.payload` as it came. */
  payload: string
  /** Of feedback that was made elsewhere: ISO 8601, and who made it. */
  createdAt?: string
  userId?: string
}

/** Checks every item before it writes any, and then writes them at once. Gives the rows in order. */
export async function createFeedback(
  dependencies: EvaluationDependencies,
  principal: Principal,
  items: readonly NewFeedback[],
): Promise<FeedbackRow[]> {
  const rows = await feedbackRows(dependencies, principal, items)
  const { stored, added } = await withoutRetries(dependencies, rows)
  await writeFeedback(dependencies.traces, added)
  return stored
}

/** The new row takes the place of `feedbackId`, or stands beside nothing when that is not there. */
export async function replaceFeedback(
  dependencies: EvaluationDependencies,
  principal: Principal,
  feedbackId: string,
  item: NewFeedback,
): Promise<FeedbackRow> {
  const [row] = await feedbackRows(dependencies, principal, [item])
  if (row === undefined) throw new Error("one item makes one row")
  if (row.id === feedbackId) {
    await writeFeedback(dependencies.traces, [row])
    return row
  }
  const { stored, added } = await withoutRetries(dependencies, [row])
  await writeFeedback(dependencies.traces, added, [{ project_id: row.project_id, id: feedbackId }])
  return stored[0] ?? row
}

async function feedbackRows(
  dependencies: EvaluationDependencies,
  principal: Principal,
  items: readonly NewFeedback[],
): Promise<FeedbackRow[]> {
  for (const { body } of items) checkFeedback(body)
  const projects = new Map<string, ProjectAccess>()
  for (const name of new Set(items.map(({ body }) => body.project_id))) {
    projects.set(name, await projectForWrite(dependencies.database, principal, name))
  }
  await checkQueues(dependencies, projects, items)
  const now = BigInt(Date.now()) * 1000n
  const rows: FeedbackRow[] = []
  for (const [index, item] of items.entries()) {
    const project = projects.get(item.body.project_id)
    if (project === undefined) throw new Error("every project was looked up")
    await checkAnnotation(dependencies, project, item.body)
    // A microsecond apart, so that a list in the order of time is in the order of the batch.
    const userId = item.userId ?? project.userId
    rows.push(toRow(item, { ...project, userId }, item.createdAt ?? isoTimeOf(now + BigInt(index))))
  }
  return rows
}

/** @throws {HeddleError} `invalid_request` for a queue that the item's project does not have, or has no more. */
async function checkQueues(
  { database }: EvaluationDependencies,
  projects: ReadonlyMap<string, ProjectAccess>,
  items: readonly NewFeedback[],
): Promise<void> {
  for (const [name, project] of projects) {
    const named = items.flatMap(({ body }) => (body.project_id === name && body.queue_id ? [body.queue_id] : []))
    const live = await liveQueueIds(database, project.id, named)
    const missing = named.find((id) => !live.has(id))
    if (missing === undefined) continue
    throw new HeddleError("invalid_request", `Queue ${missing} not found or has been deleted`)
  }
}

async function checkAnnotation(
  { database }: EvaluationDependencies,
  project: ProjectAccess,
  { annotation_ref, payload }: FeedbackCreateBody,
): Promise<void> {
  if (!annotation_ref) return
  checkAnnotationValue(await findAnnotationSpec(database, project, annotation_ref), annotation_ref, payload["value"])
}

function toRow({ body, payload }: NewFeedback, project: ProjectAccess, createdAt: string): FeedbackRow {
  return {
    project_id: project.id,
    id: body.id || randomUUIDv7(),
    weave_ref: body.weave_ref,
    wb_user_id: project.userId,
    creator: body.creator ?? null,
    created_at: createdAt,
    feedback_type: body.feedback_type,
    payload: storedPayload(body, payload),
    annotation_ref: body.annotation_ref || null,
    runnable_ref: body.runnable_ref || null,
    call_ref: body.call_ref || null,
    trigger_ref: body.trigger_ref || null,
    queue_id: body.queue_id || null,
    scorer_tags: body.scorer_tags ?? [],
    scorer_tag_reasons: body.scorer_tag_reasons ?? {},
    scorer_tag_confidences: body.scorer_tag_confidences ?? {},
    scorer_ratings: body.scorer_ratings ?? {},
    scorer_rating_reasons: body.scorer_rating_reasons ?? {},
    scorer_rating_confidences: body.scorer_rating_confidences ?? {},
    span_agent_name: body.span_agent_name ?? "",
    span_agent_version: body.span_agent_version ?? "",
    span_status_code: body.span_status_code ?? "UNSET",
    ...spanTarget(body),
    scorer_trace_id: body.scorer_trace_id ?? "",
  }
}

/** Characters of the JSON text. */
const longestPayload = 1_048_576

function storedPayload(body: FeedbackCreateBody, sent: string): string {
  const text = familyOf(body.feedback_type) === "reaction" ? withReactionNames(body.payload) : sent
  checkPayloadSize(text)
  return text
}

/** @throws {HeddleError} `invalid_request`. */
export function checkPayloadSize(text: string): void {
  if (text.length <= longestPayload) return
  throw new HeddleError(
    "invalid_request",
    `Feedback payload too large: ${text.length} characters, at most ${longestPayload}`,
  )
}

function withReactionNames(payload: FeedbackCreateBody["payload"]): string {
  const emoji = String(payload["emoji"])
  const name = nameEmoji(emoji)
  if (name === null) throw new HeddleError("invalid_request", `payload.emoji "${emoji}" must be exactly one emoji`)
  return JSON.stringify({ ...payload, alias: name.alias, detoned: name.detoned, detoned_alias: name.detonedAlias })
}

/** The two agent types name what they are about in `weave_ref`; the columns say the same. */
function spanTarget(body: FeedbackCreateBody): Pick<FeedbackRow, "span_conversation_id" | "span_trace_id"> {
  const given = {
    span_conversation_id: body.span_conversation_id ?? "",
    span_trace_id: body.span_trace_id ?? "",
  }
  const family = familyOf(body.feedback_type)
  const isAgents = family === "agent_monitor" || family === "agent_user_feedback"
  const target = isAgents ? agentTarget(body.weave_ref) : null
  if (target === null) return given
  const contradicting = given[target.span]
  if (contradicting !== "" && contradicting !== target.id) {
    throw new HeddleError(
      "invalid_request",
      `${target.span} is "${contradicting}", and weave_ref "${body.weave_ref}" names "${target.id}"`,
    )
  }
  return { ...given, [target.span]: target.id }
}

/**
 * A row whose id is taken is a retry when it says the same; it is answered and not written again.
 * @throws {HeddleError} `conflict` when it says something else.
 */
async function withoutRetries({ traces }: EvaluationDependencies, rows: readonly FeedbackRow[]) {
  const taken = new Map<string, Pick<StoredFeedback, "created_at" | "content_digest">>()
  for (const [projectId, ofProject] of Map.groupBy(rows, (row) => row.project_id)) {
    const ids = ofProject.map((row) => row.id)
    for (const row of await findFeedback(traces, projectId, ids)) taken.set(keyOf(row), row)
  }
  const stored: FeedbackRow[] = []
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
    stored.push(before === undefined ? row : { ...row, created_at: before.created_at })
  }
  return { stored, added }
}

function keyOf({ project_id, id }: { project_id: string; id: string }): string {
  return `${project_id}/${id}`
}
