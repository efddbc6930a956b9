/**
 * The events of a job as server-sent events, until it has ended. They are read from the catalog, so that it does not matter
 * which server runs the job, and a server that a client comes back to knows all that it missed.
 */
import { errorBody } from "../http/answers/error-dialects.ts"
import type { StreamForm } from "../http/answers/event-stream.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { type EventRecord, listEvents } from "../storage/catalog/training/training-events.ts"
import type { Event } from "../wire/training/job.ts"
import { sleepAtMost } from "../work/sleep.ts"

/** How soon an event is sent that another server, or this one, has stored. */
const lookEveryMs = 500
/** A client comes back after this, with a key that is asked for its rights again. */
const longestMs = 15 * 60_000
const retryMs = 1_000
const eventsAtOnce = 100

export interface Followed {
  database: CatalogDatabase
  jobId: string
  /** Throws when the job was removed. */
  isThere: () => Promise<void>
  /** The client has left, or the server stops. */
  until: AbortSignal
}

export const detailForm: StreamForm = {
  end: "",
  failure: (error) => `event: error\ndata: ${JSON.stringify(errorBody(error, "detail"))}\n\n`,
}

/** Strictly after place `after`. */
export async function* followJob({ database, jobId, isThere, until }: Followed, after: number): AsyncGenerator<string> {
  const end = performance.now() + longestMs
  // At once, so that a client knows that it is connected.
  yield `retry: ${retryMs}\n\n`
  for (let place = after; ;) {
    const events = await listEvents(database, jobId, place, eventsAtOnce)
    for (const event of events) {
      yield `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(toWireEvent(event))}\n\n`
      if (event.type === "training_ended" || event.type === "training_failed") return
      place = event.sequence
    }
    if (events.length === eventsAtOnce) continue
    if (performance.now() > end) return
    // Of a job that was removed no end will ever come.
    if (events.length === 0) await isThere()
    if (await isOver(until)) return
  }
}

export function toWireEvent({ id, type, data, createdAt }: EventRecord): Event {
  return { id, type, created_at: createdAt.toISOString(), data }
}

/** Waits until it is time to look again; true: nobody waits any more. */
async function isOver(until: AbortSignal): Promise<boolean> {
  if (until.aborted) return true
  await sleepAtMost(lookEveryMs, until)
  return until.aborted
}
