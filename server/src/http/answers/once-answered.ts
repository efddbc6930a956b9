import type { FastifyReply } from "fastify"

/** Acts of an answer share its listeners: Node warns of more than ten. */
const waiting = new WeakMap<FastifyReply["raw"], (() => void)[]>()

/** Calls `act` once the answer has been sent, or its client has gone. */
export function onceAnswered({ raw }: FastifyReply, act: () => void): void {
  // If the client has already gone, 'close' will not fire again.
  if (raw.writableFinished || raw.destroyed) return act()
  const acts = waiting.get(raw) ?? []
  acts.push(act)
  if (acts.length > 1) return
  waiting.set(raw, acts)
  const runAll = () => {
    for (const one of acts.splice(0)) one()
  }
  raw.once("finish", runAll).once("close", runAll)
}
