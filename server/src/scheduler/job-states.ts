/**
 * The state machine of training jobs: what every event does in every state. The table is total, so
 * a new state or event does not compile until each of its cells is decided.
 *
 * Invariants (each has a test in `job-states.test.ts`):
 * 1. A job in a final state never changes again.
 * 2. Every move into a final state writes exactly one terminal event; no other move writes any.
 * 3. From every open state a final one can be reached.
 * 4. Only a claimed job can succeed.
 */
import type { JobMove } from "../storage/catalog/training/job-claims.ts"
import type { JobStatus } from "../storage/catalog/schema.ts"

/** The order is the one of the printed table. */
export const jobStates = [
  "queued",
  "running",
  "paused",
  "succeeded",
  "failed",
  "cancelled",
] as const satisfies JobStatus[]

/** Meaning of each event, for the printed table. */
export const jobEventMeanings = {
  claim: "a server takes the job and its lease",
  lease_lost: "the lease ran out: the server that held it is dead or cut off",
  engine_lost: "the engine ended or was ended before the job did",
  finish: "the engine has written the new checkpoint",
  fail: "the data, the machine or the number of attempts rules success out",
  cancel: "a user cancelled the job, or the model was deleted",
  pause: "a user paused the job",
  resume: "a user resumed the job",
} as const

export type JobEvent = keyof typeof jobEventMeanings
export const jobEvents = Object.keys(jobEventMeanings) as JobEvent[]

export type TerminalEvent = "training_ended" | "training_failed"

export interface JobTransition {
  to: JobStatus
  /** The terminal event written with the move (training-api 3.1). */
  terminal: TerminalEvent | null
}

const ended: JobTransition = { to: "succeeded", terminal: "training_ended" }
const failed: JobTransition = { to: "failed", terminal: "training_failed" }
const cancelled: JobTransition = { to: "cancelled", terminal: "training_failed" }
const running: JobTransition = { to: "running", terminal: null }
const queued: JobTransition = { to: "queued", terminal: null }
const paused: JobTransition = { to: "paused", terminal: null }

/** null: the event comes too late or to the wrong state and changes nothing. */
export const jobTransitions: Record<JobStatus, Record<JobEvent, JobTransition | null>> = {
  queued: {
    claim: running,
    lease_lost: null,
    engine_lost: null,
    finish: null,
    fail: failed,
    cancel: cancelled,
    pause: paused,
    resume: null,
  },
  running: {
    claim: null,
    lease_lost: queued,
    engine_lost: queued,
    finish: ended,
    fail: failed,
    cancel: cancelled,
    pause: paused,
    resume: null,
  },
  paused: {
    claim: null,
    lease_lost: null,
    engine_lost: null,
    finish: null,
    fail: null,
    cancel: cancelled,
    pause: null,
    resume: queued,
  },
  succeeded: {
    claim: null,
    lease_lost: null,
    engine_lost: null,
    finish: null,
    fail: null,
    cancel: null,
    pause: null,
    resume: null,
  },
  failed: {
    claim: null,
    lease_lost: null,
    engine_lost: null,
    finish: null,
    fail: null,
    cancel: null,
    pause: null,
    resume: null,
  },
  cancelled: {
    claim: null,
    lease_lost: null,
    engine_lost: null,
    finish: null,
    fail: null,
    cancel: null,
    pause: null,
    resume: null,
  },
}

/** The event as one conditional update: the states that take it, and where they go (the same for all of them). */
export function moveFor(event: JobEvent): JobMove {
  const from = jobStates.filter((state) => jobTransitions[state][event] !== null)
  const transition = from.map((state) => jobTransitions[state][event])[0]
  if (transition === null || transition === undefined) throw new Error(`no state takes the event ${event}`)
  return { from, to: transition.to, terminal: transition.terminal }
}
