/** Lookups in the stores by tasks on feedback, beyond those of every payload. */
import { lookups, type PayloadLookup, type LookupOf } from "../../objects/payload/payload-lookups.ts"
import type { StoredFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { FeedbackAttempt } from "./feedback-attempts.ts"

/** Parameters and answer of each kind of lookup. */
interface Kinds {
  /** Whether there are these annotation queues. */
  queues: { params: { named: readonly InProject[] }; answer: null }
  /** Whether values, which are JSON texts, fit the annotation specs of their project. */
  annotations: {
    params: { annotations: readonly { projectId: string; ref: string; values: readonly string[] }[] }
    answer: null
  }
  /** Feedback that is stored under these ids. */
  feedback: { params: { named: readonly InProject[] }; answer: readonly StoredFeedback[] }
  /** Source of the ids and times of a request's feedback. */
  attempt: { params: { key: string }; answer: FeedbackAttempt }
}

/** A thing of a project, by the ids of both. */
interface InProject {
  projectId: string
  id: string
}

export type FeedbackLookup = PayloadLookup | LookupOf<Kinds>

/** A lookup of the kind `K`. */
export type LookupFor<K extends keyof Kinds> = Extract<FeedbackLookup, { kind: K }>

export const lookUpFeedback = lookups<Kinds>()
