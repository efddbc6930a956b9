import { setTimeout as sleep } from "node:timers/promises"

/** Waits so long, or until the signal fires. The wait alone keeps no process alive. */
export async function sleepAtMost(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined)
}
