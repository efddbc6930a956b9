/**
 * What one annotator may do with one item: evaluation-store-objects 2.5. The table is total, so a new
 * state or event does not compile until each of its cells is decided.
 *
 * Invariants (each has a test in `annotation-states.test.ts`):
 * 1. From every state a finished one can be reached.
 * 2. A finished state is left by taking it back alone.
 * 3. An event whose state is already reached changes nothing, so that it may be sent again.
 * 4. Nothing leads back to "unstarted": that something was done stays known.
 */
import type { OwnState } from "../../storage/catalog/labelling/annotation-schema.ts"

/** The order is the one of the printed table. */
export const annotationStates = [
  "unstarted",
  "in_progress",
  "completed",
  "skipped",
] as const satisfies readonly OwnState[]

/** Meaning of each event, for the printed table. */
export const annotationEventMeanings = {
  start: "the annotator says `in_progress`",
  complete: "the annotator says `completed`",
  skip: "the annotator says `skipped`",
  undo: "the annotator takes their completed or skipped back",
} as const

export type AnnotationEvent = keyof typeof annotationEventMeanings
export const annotationEvents = Object.keys(annotationEventMeanings) as AnnotationEvent[]

/** The next state; `same`: nothing changes, and that is right; `refused`: an error. */
export type AnnotationOutcome = Exclude<OwnState, "unstarted"> | "same" | "refused"

export const annotationTransitions: Record<OwnState, Record<AnnotationEvent, AnnotationOutcome>> = {
  unstarted: { start: "in_progress", complete: "completed", skip: "skipped", undo: "refused" },
  in_progress: { start: "same", complete: "completed", skip: "skipped", undo: "same" },
  completed: { start: "refused", complete: "same", skip: "refused", undo: "in_progress" },
  skipped: { start: "refused", complete: "refused", skip: "same", undo: "in_progress" },
}

const eventOfState: Partial<Record<string, AnnotationEvent>> = {
  in_progress: "start",
  completed: "complete",
  skipped: "skip",
}

/** The event that a client means by the state it asks for; null: a state that cannot be asked for. */
export function eventFor(state: string): AnnotationEvent | null {
  return Object.hasOwn(eventOfState, state) ? (eventOfState[state] ?? null) : null
}

/** The state that an event leads to, for each current state. */
export function targetsOf(event: AnnotationEvent): Record<OwnState, AnnotationOutcome> {
  const { unstarted, in_progress, completed, skipped } = annotationTransitions
  return {
    unstarted: unstarted[event],
    in_progress: in_progress[event],
    completed: completed[event],
    skipped: skipped[event],
  }
}
