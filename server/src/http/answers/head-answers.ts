/**
 * Answers to HEAD have no body. Fastify makes a HEAD of every GET, and reads what it streams to the end for nothing: a file of
 * gigabytes, or the events of a job for as long as it runs. Here such a stream ends before it is read.
 */
import type { FastifyInstance } from "fastify"
import { Readable } from "node:stream"

/** Add it before what changes answers on their way, such as compression. */
export function endBodiesOfHead(server: FastifyInstance): void {
  server.addHook("onSend", async ({ method }, _reply, payload) => {
    if (method !== "HEAD" || !(payload instanceof Readable)) return payload
    // Some streams report as an error that they were ended early.
    payload.on("error", () => undefined).destroy()
    // A text would set Content-Length to its own length.
    return Readable.from([])
  })
}
