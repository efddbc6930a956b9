/** Suggestions for a field, from earlier feedback of scorers and other people on the call. */
import type { JsonText } from "../json/json-text.ts"
import { isSame, type LabelField } from "./label-fields.ts"

export interface Suggestion {
  value: unknown
  /** From 0 to 1; null: the scorer does not say. */
  confidence: number | null
  /** Who suggests it. */
  scorer: string
  feedbackId: string
}

/** A label that somebody else gave. */
export interface OtherLabel {
  field: string
  value: unknown
  userId: string
}

interface Feedback {
  id: string
  feedback_type: string
  payload: Record<string, unknown>
  wb_user_id?: string | null
  runnable_ref: string | null
}

export interface GivenLabels {
  suggestions: Readonly<Record<string, Suggestion>>
  others: readonly OtherLabel[]
}

/** `summary`: of a call that was read with its feedback, the oldest first. */
export function givenLabels(fields: readonly LabelField[], summary: JsonText, ownUserId: string): GivenLabels {
  const parsed = JSON.parse(summary) as { weave?: { feedback?: Feedback[] } } | null
  const feedback = parsed?.weave?.feedback ?? []
  const suggestions: Record<string, Suggestion> = {}
  const others = new Map<string, OtherLabel>()
  for (const one of feedback) {
    const { feedback_type, payload, wb_user_id, runnable_ref } = one
    if (feedback_type.startsWith("wandb.annotation.")) {
      const field = feedback_type.slice("wandb.annotation.".length)
      if (wb_user_id == null || wb_user_id === ownUserId || !fields.some(({ name }) => name === field)) continue
      others.set(`${field} ${wb_user_id}`, { field, value: payload["value"], userId: wb_user_id })
    } else if (runnable_ref !== null) {
      for (const field of fields) {
        const suggestion = suggestionOf(field, one)
        if (suggestion !== null) suggestions[field.name] = suggestion
      }
    }
  }
  return { suggestions, others: [...others.values()] }
}

/** Where a scorer that is called as the field puts its one answer. */
const answerNames = ["value", "label", "score", "answer"]

/** A scorer suggests an answer when it has the field's name, or its output has a member of that name. */
function suggestionOf(field: LabelField, { id, feedback_type, payload }: Feedback): Suggestion | null {
  const scorer = feedback_type.replace(/^wandb\.runnable\./, "")
  const output = payload["output"]
  const members = typeof output === "object" && output !== null ? (output as Record<string, unknown>) : null
  const isNamesake = scorer.toLowerCase() === field.name.toLowerCase()
  const named = answerNames.map((name) => members?.[name]).find((value) => value !== undefined)
  const value =
    members === null ? (isNamesake ? output : undefined) : (members[field.name] ?? (isNamesake ? named : undefined))
  if (value === undefined || value === null || !fits(field, value)) return null
  const confidence = members?.["confidence"]
  return { value, confidence: typeof confidence === "number" ? confidence : null, scorer, feedbackId: id }
}

/** A value that cannot be chosen is no suggestion. */
function fits({ kind, options }: LabelField, value: unknown): boolean {
  if (kind === "choice") return options.some((option) => isSame(option.value, value))
  return kind === "number" && typeof value === "number"
}
