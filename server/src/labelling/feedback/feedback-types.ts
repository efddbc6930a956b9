/** Requirements of each family of feedback types: evaluation-store-objects 2.3. */
import { HeddleError } from "../../errors.ts"
import { checkRef } from "../../objects/refs/refs.ts"
import { type FeedbackCreateBody, longestNote } from "../../wire/labelling/feedback.ts"

export const reactionType = "wandb.reaction.1"
const noteType = "wandb.note.1"
const annotationPrefix = "wandb.annotation"
const runnablePrefix = "wandb.runnable"
const agentMonitorType = "wandb.agent_monitor"
const agentUserType = "wandb.agent_user_feedback"

export type FeedbackFamily =
  | "reaction"
  | "note"
  | "annotation"
  | "runnable"
  | "agent_monitor"
  | "agent_user_feedback"
  | "free"

function familyOf(type: string): FeedbackFamily {
  if (type === reactionType) return "reaction"
  if (type === noteType) return "note"
  if (type === agentMonitorType) return "agent_monitor"
  if (type === agentUserType) return "agent_user_feedback"
  if (type.startsWith(annotationPrefix)) return "annotation"
  return type.startsWith(runnablePrefix) ? "runnable" : "free"
}

/** Checks all that needs no lookup. Returns the family of the type. @throws {HeddleError} `invalid_request`. */
export function checkFeedback(body: FeedbackCreateBody): FeedbackFamily {
  const family = familyOf(body.feedback_type)
  checks[family]?.(body)
  checkRefFields(body, family)
  checkScorerFields(body, family)
  return family
}

const checks: Partial<Record<FeedbackFamily, (body: FeedbackCreateBody) => void>> = {
  reaction: ({ payload }) => {
    if (typeof payload["emoji"] !== "string") throw refused("payload.emoji must be a string of exactly one emoji")
  },
  note: ({ payload }) => {
    const note = payload["note"]
    if (typeof note !== "string") throw refused("payload.note must be a string")
    const { length } = Array.from(note)
    if (length < 1 || length > longestNote) {
      throw refused(`payload.note has ${length} characters; 1 to ${longestNote} are allowed`)
    }
  },
  annotation: (body) => {
    const name = nameWithin(body.feedback_type, annotationPrefix)
    const ref = checkRef(required(body, "annotation_ref"), "annotation_ref", ["object"])
    if (ref.name !== name) throw wrongName("annotation_ref", name, ref.name)
    if (ref.project !== body.project_id) {
      throw refused(`annotation_ref is of the project ${ref.project}, and the feedback of ${body.project_id}`)
    }
    if (!("value" in body.payload)) throw refused("the payload of an annotation needs the key value")
  },
  runnable: (body) => {
    const name = nameWithin(body.feedback_type, runnablePrefix)
    const ref = checkRef(required(body, "runnable_ref"), "runnable_ref", ["op", "object"])
    if (ref.name !== name) throw wrongName("runnable_ref", name, ref.name)
    if (ref.kind === "op") required(body, "call_ref")
    if (!("output" in body.payload)) throw refused("the payload of a runnable needs the key output")
  },
  agent_monitor: (body) => {
    for (const field of ["runnable_ref", "call_ref", "trigger_ref"] as const) required(body, field)
  },
  agent_user_feedback: ({ scorer_tags }) => {
    if (!scorer_tags?.length) throw refused(`${agentUserType} needs scorer_tags with at least one tag`)
  },
}

type RefField = "annotation_ref" | "runnable_ref" | "call_ref" | "trigger_ref"

function required(body: FeedbackCreateBody, field: RefField): string {
  const value = body[field]
  if (!value) throw refused(`feedback of the type ${body.feedback_type} needs ${field}`)
  return value
}

/** `wandb.annotation.<name>` → `<name>`. */
function nameWithin(type: string, prefix: string): string {
  const name = type.slice(prefix.length + 1)
  if (type[prefix.length] !== "." || name === "") {
    throw refused(`feedback_type "${type}" is not of the form ${prefix}.<name>`)
  }
  return name
}

function wrongName(field: string, expected: string, actual: string): HeddleError {
  return refused(`${field} must name ${expected}, as the feedback_type does, not ${actual}`)
}

const familiesWithRunnable: readonly FeedbackFamily[] = ["annotation", "runnable", "agent_monitor"]

function checkRefFields(body: FeedbackCreateBody, family: FeedbackFamily): void {
  if (body.annotation_ref && family !== "annotation") throw notAllowed(body, "annotation_ref")
  for (const field of ["runnable_ref", "call_ref", "trigger_ref"] as const) {
    if (body[field] && !familiesWithRunnable.includes(family)) throw notAllowed(body, field)
  }
  if (body.runnable_ref) checkRef(body.runnable_ref, "runnable_ref", ["op", "object"])
  if (body.call_ref) checkRef(body.call_ref, "call_ref", ["call"])
  if (body.trigger_ref) checkRef(body.trigger_ref, "trigger_ref", ["object"])
}

/** Fields about the subject of feedback: calls and spans of agents. */
export const attachedFields = [
  "id",
  "feedback_type",
  "weave_ref",
  "payload",
  "creator",
  "created_at",
  "wb_user_id",
  "runnable_ref",
  "call_ref",
  "trigger_ref",
  "annotation_ref",
] as const

export const scorerFields = [
  "scorer_tags",
  "scorer_tag_reasons",
  "scorer_tag_confidences",
  "scorer_ratings",
  "scorer_rating_reasons",
  "scorer_rating_confidences",
] as const

const familiesWithScores: readonly FeedbackFamily[] = ["runnable", "agent_monitor", "agent_user_feedback"]

function checkScorerFields(body: FeedbackCreateBody, family: FeedbackFamily): void {
  if (familiesWithScores.includes(family)) return
  const given = scorerFields.find((field) => Object.keys(body[field] ?? {}).length > 0)
  if (given !== undefined) throw notAllowed(body, given)
}

function notAllowed({ feedback_type }: FeedbackCreateBody, field: string): HeddleError {
  return refused(`${field} is not allowed on feedback of the type ${feedback_type}`)
}

function refused(message: string): HeddleError {
  return new HeddleError("invalid_request", message)
}
