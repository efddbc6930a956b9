/** The row that is stored of a piece of feedback: evaluation-store-objects 2.3 and 5. */
import { HeddleError } from "../../errors.ts"
import { withMembers } from "../../json/json-members.ts"
import type { FeedbackRow } from "../../storage/traces/labelling/feedback-rows.ts"
import type { FeedbackCreateBody } from "../../wire/labelling/feedback.ts"
import { nameEmoji } from "./emoji.ts"
import { agentTarget } from "./agent-target.ts"
import type { FeedbackFamily } from "./feedback-types.ts"
import { checkPayloadSize } from "./payload-size.ts"

export interface FeedbackItem {
  body: FeedbackCreateBody
  /** JSON text of `body.payload` as it came. */
  payload: string
  /** Creation time (ISO 8601) and author of feedback that was made elsewhere. */
  createdAt?: string
  userId?: string
}

export interface RowOwner {
  id: string
  /** Id in the catalog. */
  projectId: string
  userId: string
  /** ISO 8601, to the microsecond. */
  createdAt: string
}

/** @throws {HeddleError} `invalid_request`. */
export function feedbackRow({ body, payload }: FeedbackItem, family: FeedbackFamily, owner: RowOwner): FeedbackRow {
  return {
    project_id: owner.projectId,
    id: owner.id,
    weave_ref: body.weave_ref,
    wb_user_id: owner.userId,
    creator: body.creator ?? null,
    created_at: owner.createdAt,
    feedback_type: body.feedback_type,
    payload: storedPayload(body, family, payload),
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
    ...spanTarget(body, family),
    scorer_trace_id: body.scorer_trace_id ?? "",
  }
}

function storedPayload(body: FeedbackCreateBody, family: FeedbackFamily, sent: string): string {
  const text = family === "reaction" ? withReactionNames(body.payload, sent) : sent
  checkPayloadSize(text)
  return text
}

function withReactionNames(payload: FeedbackCreateBody["payload"], sent: string): string {
  const emoji = String(payload["emoji"])
  const name = nameEmoji(emoji)
  if (name === null) throw new HeddleError("invalid_request", `payload.emoji "${emoji}" must be exactly one emoji`)
  return withMembers(sent, {
    alias: JSON.stringify(name.alias),
    detoned: JSON.stringify(name.detoned),
    detoned_alias: JSON.stringify(name.detonedAlias),
  })
}

/** The two agent types name what they are about in `weave_ref`; the columns say the same. */
function spanTarget(
  body: FeedbackCreateBody,
  family: FeedbackFamily,
): Pick<FeedbackRow, "span_conversation_id" | "span_trace_id"> {
  const given = {
    span_conversation_id: body.span_conversation_id ?? "",
    span_trace_id: body.span_trace_id ?? "",
  }
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
