import type { FastifyReply } from "fastify"

/** Runs `act` when the answer has been sent, or its client has left. */
export function onceAnswered({ raw }: FastifyReply, act: () => void): void {
  // If the client has already gone, 'close' will not fire again.
  if (raw.writableFinished || raw.destroyed) return act()
  raw.once("finish", act).once("close", act)
}
