/** Opens all connections of an attack at once, with one request each. */
import type { Attack, Ground, Size } from "./attack.ts"
import { type Outcome, sendAttack } from "./send-attack.ts"

export interface AttackWave {
  /** True when no connection is left. */
  readonly isOver: boolean
  outcomes: Promise<Outcome[]>
  /** Closes every connection that is left. */
  leave: () => void
}

/** Resolves when all requests have been sent. */
export async function startWave(attack: Attack, ground: Ground, size: Size): Promise<AttackWave> {
  const leaving = new AbortController()
  const requests = await attack.requests(ground, size)
  const sent = requests.map((request) => sendAttack(ground.url, ground.attacker, request, leaving.signal))
  let isOver = false
  const outcomes = Promise.all(sent.map(({ outcome }) => outcome)).finally(() => (isOver = true))
  await Promise.all(sent.map((request) => request.sent))
  return {
    get isOver() {
      return isOver
    },
    outcomes,
    leave: () => leaving.abort(),
  }
}
