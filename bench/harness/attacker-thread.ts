/** Carries out one attack on a thread of its own, so that its work does not delay what the benchmark measures. */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { attacks } from "../../server/test/support/attacks/attack-list.ts"
import type { AttackRequest, Ground } from "../../server/test/support/attacks/attack.ts"
import { sendAttack } from "../../server/test/support/attacks/send-attack.ts"

export interface AttackerTask {
  attack: string
  ground: Ground
}

/**
 * The thread sends "ready" when the attack's data is stored; its first message begins the attack, its second ends it.
 */
export type AttackerNews = "ready" | Record<string, number>

/** The shortest time between two openings of a connection. */
const turnMs = 100

async function carryOut(
  requests: AttackRequest[],
  ground: Ground,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const repeat = async (request: AttackRequest): Promise<void> => {
    for (let turn = 0; !signal.aborted; turn++) {
      const next = sleep(turnMs, undefined, { signal }).catch(() => undefined)
      const outcome = await sendAttack(ground.url, ground.attacker, request, signal, turn).outcome
      counts[outcome] = (counts[outcome] ?? 0) + 1
      await next
    }
  }
  await Promise.all(requests.map(repeat))
  return counts
}

async function main(port: MessagePort): Promise<void> {
  const { attack: name, ground } = workerData as AttackerTask
  const attack = attacks.find((one) => one.name === name)
  if (attack === undefined) throw new Error(`there is no attack ${name}`)
  const requests = await attack.requests(ground, "full")
  const leaving = new AbortController()
  port.postMessage("ready" satisfies AttackerNews)
  await once(port, "message")
  port.once("message", () => leaving.abort())
  const counts = await carryOut(requests, ground, leaving.signal)
  port.postMessage(counts satisfies AttackerNews)
}

if (parentPort !== null) await main(parentPort)
