/** One line in the log for each request that has ended, whoever ended it: at level `debug`, or at `info` by HEDDLE_REQUEST_LOG. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"

export function logRequests(server: FastifyInstance, always: boolean): void {
  const level = always ? "info" : "debug"
  // A line that the log level hides is not built.
  if (!["trace", "debug", level].includes(server.log.level)) return
  server.addHook("onRequest", async (request, reply) => {
    const began = performance.now()
    const { socket } = reply.raw
    const sentBefore = socket?.bytesWritten ?? 0
    // It also fires when the client has left before the answer was whole.
    reply.raw.once("close", () => {
      const bytes = (socket?.bytesWritten ?? 0) - sentBefore
      server.log[level]({ ...lineOf(request, reply), ms: Math.round(performance.now() - began), bytes }, "request")
    })
  })
}

/** Never the address as it came: keys of files are part of it, and names that people chose. */
function lineOf(request: FastifyRequest, { raw }: FastifyReply): object {
  return {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: raw.statusCode,
    user_id: request.principal?.userId ?? null,
    ...(raw.writableFinished ? {} : { broken_off: true }),
  }
}
