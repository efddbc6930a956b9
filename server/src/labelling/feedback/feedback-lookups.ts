/** Questions of tasks on feedback to the stores, beyond those of every payload. */
import { asking, type PayloadQuestion, type QuestionOf } from "../../objects/payload/payload-lookups.ts"
import type { StoredFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { FeedbackAttempt } from "./feedback-attempts.ts"

/** By kind, what is asked and how it is answered. */
interface Kinds {
  /** Whether there are these annotation queues. */
  queues: { asked: { named: readonly InProject[] }; answer: null }
  /** Whether values, which are JSON texts, are what the annotation specs of their project ask for. */
  annotations: {
    asked: { annotations: readonly { projectId: string; ref: string; values: readonly string[] }[] }
    answer: null
  }
  /** Feedback that is stored under these ids. */
  feedback: { asked: { named: readonly InProject[] }; answer: readonly StoredFeedback[] }
  /** Source of the ids and times of a request's feedback. */
  attempt: { asked: { key: string }; answer: FeedbackAttempt }
}

/** A thing of a project, by the ids of both. */
interface InProject {
  projectId: string
  id: string
}

export type FeedbackQuestion = PayloadQuestion | QuestionOf<Kinds>

/** A question of the kind `K`. */
export type Asked<K extends keyof Kinds> = Extract<FeedbackQuestion, { kind: K }>

export const askOfFeedback = asking<Kinds>()
