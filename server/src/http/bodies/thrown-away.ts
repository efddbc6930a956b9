/**
 * Bodies that nobody wants. They are read to their end, so that the client, which is still sending, gets to read the answer,
 * but no faster than all of them together may come: a gigabyte a second of them would keep the event loop busy.
 */
import { finished, type Readable } from "node:stream"

const bytesPerMs = 64 * 1024
/** Shortest pause worth taking: a body of a megabyte is read at once. */
const shortestPauseMs = 20

/** When all that was read by now may have come. */
let paidUntil = 0

/** Resolves at the end of the body, or when its client has left. */
export function thrownAway(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    finished(body, () => resolve())
    body.on("data", (chunk: Buffer) => {
      const now = performance.now()
      paidUntil = Math.max(paidUntil, now) + chunk.length / bytesPerMs
      if (paidUntil - now < shortestPauseMs) return
      body.pause()
      setTimeout(() => body.resume(), paidUntil - now)
    })
    body.unpipe().resume()
  })
}
