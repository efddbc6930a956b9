/**
 * Ends answers that their clients do not read. While nobody reads, what makes the answer waits: a query keeps its place in
 * the store, a chat its rows in the engine. A client that waits for an answer is not ended, however long it takes.
 */
import type { FastifyInstance } from "fastify"
import type { Socket } from "node:net"

/**
 * Node's first look at a connection after a write that did not leave whole is never the end of it, because the rest is less
 * than the write was. So it must look several times within the limit.
 */
const looksWithinLimit = 4

/** The `connectionTimeout` of the server: how long a connection may be silent before Node looks at it. */
export function unreadLookMs(unreadMs: number): number {
  return Math.ceil(unreadMs / looksWithinLimit)
}

interface Unread {
  /** When the client last read, in ms of `performance.now()`, and when that was looked at. */
  since: number
  looked: number
  /** Bytes of the writes that have left whole. */
  taken: number
}

/** Ends the connection of an answer of which nothing has left for `unreadMs`, a quarter of it later at the latest. */
export function endUnreadAnswers(server: FastifyInstance, unreadMs: number): void {
  const lookMs = unreadLookMs(unreadMs)
  const unread = new WeakMap<Socket, Unread>()
  const look = (socket: Socket) => {
    if (socket.writableLength === 0) return
    const looked = performance.now()
    const taken = socket.bytesWritten - socket.writableLength
    const last = unread.get(socket)
    // Of a part of a write that has left Node tells nothing, but it looks again a whole pause later.
    const isStill = last !== undefined && last.taken === taken && looked - last.looked < 1.5 * lookMs
    const since = isStill ? last.since : looked - lookMs
    if (looked - since > unreadMs - lookMs / 2) return void socket.destroy()
    unread.set(socket, { since, looked, taken })
    socket.setTimeout(lookMs)
  }
  server.addHook("onRequest", async (_request, reply) => {
    // Without a listener, Node ends every connection that is silent for so long.
    reply.raw.on("timeout", look)
  })
}
