/** Which feedback the list asks for, and what a piece of it is. */
import type { FeedbackRow } from "../../../../api/calls/feedback.ts"
import { readRef } from "../../../../objects/object-refs.ts"
import type { TimeRange } from "../time-range.ts"
import type { feedbackKinds } from "../traces-search.ts"

export type FeedbackKind = (typeof feedbackKinds)[number]

/** How types of a kind begin, as the Weave SDK and the server write them; and a word for one of them. */
export const kinds: Readonly<Record<FeedbackKind, { prefix: string; word: string; title: string }>> = {
  scores: { prefix: "wandb.runnable.", word: "score", title: "Scores of scorers" },
  labels: { prefix: "wandb.annotation.", word: "label", title: "Labels of annotators" },
  notes: { prefix: "wandb.note.", word: "note", title: "Notes" },
  reactions: { prefix: "wandb.reaction.", word: "reaction", title: "Reactions" },
}

interface Wanted {
  /** In the name of a scorer or question, or in a note; empty: everything. */
  text: string
  kind: FeedbackKind | undefined
  /** Id of a user. */
  by: string | undefined
  range: TimeRange
}

const field = (name: string) => ({ $getField: name })
const holds = (name: string, text: string) => ({
  $contains: { input: field(name), substr: { $literal: text }, case_insensitive: true },
})

/** All of which must hold. */
export function feedbackConditions({ text, kind, by, range }: Wanted): object[] {
  return [
    ...(kind === undefined ? [] : [holds("feedback_type", kinds[kind].prefix)]),
    ...(by === undefined ? [] : [{ $eq: [field("wb_user_id"), { $literal: by }] }]),
    ...(text === "" ? [] : [{ $or: [holds("feedback_type", text), holds("payload.note", text)] }]),
    ...(range.from === undefined ? [] : [{ $gte: [field("created_at"), { $literal: range.from }] }]),
    ...(range.to === undefined ? [] : [{ $not: [{ $gt: [field("created_at"), { $literal: range.to }] }] }]),
  ]
}

/** What it is called in a row; a type of a program's own is "feedback". */
export function kindWord({ feedback_type }: FeedbackRow): string {
  const found = Object.values(kinds).find(({ prefix }) => feedback_type.startsWith(prefix))
  return found?.word ?? "feedback"
}

/** The call of which it was said; null: it was said of something else. */
export function callIdOf({ weave_ref }: FeedbackRow): string | null {
  const ref = readRef(weave_ref)
  return ref?.kind === "call" && ref.inside === "" ? ref.name : null
}
