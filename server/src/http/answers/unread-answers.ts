/**
 * Ends answers that their clients do not read. While nobody reads, what makes the answer waits: a query keeps its place in
 * the store, a chat its rows in the engine. A client that waits for an answer is not ended, however long it takes.
 */
import type { FastifyInstance } from "fastify"
import type { Socket } from "node:net"

/** The server's `connectionTimeout` is how long a connection may be silent before this looks at it. */
export function endUnreadAnswers(server: FastifyInstance): void {
  server.addHook("onRequest", async (_request, reply) => {
    // Without a listener, Node ends every connection that is silent for so long.
    reply.raw.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy()
    })
  })
}
