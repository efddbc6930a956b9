/** Asks the stores on other machines whether they answer, for whoever asks this server. */
import { HeddleError } from "../errors.ts"
import { shared } from "../work/shared-work.ts"

/** Balancers ask every second or so and wait little. */
const patienceMs = 3_000

/** Callers at the same time share one look. */
export function storesCheck(pings: readonly (() => Promise<void>)[]): () => Promise<void> {
  return shared(() => look(pings))
}

async function look(pings: readonly (() => Promise<void>)[]): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(noAnswer()), patienceMs)
  try {
    await Promise.race([late, Promise.all(pings.map((ping) => ping()))])
  } finally {
    clearTimeout(timer)
  }
}

function noAnswer(): HeddleError {
  return new HeddleError("catalog_unavailable", `the stores did not answer within ${patienceMs / 1000} s`)
}
