/** Tells a hung engine from a busy one by its heartbeats (engine 5.2). */
import { setTimeout as sleep } from "node:timers/promises"
import type { Heartbeat } from "../wire/engine/frames.ts"

export interface WatchdogLimits {
  /** Longest time without a heartbeat. */
  silenceMs: number
  /** Longest time `progress` may stand still while there is work. */
  stallMs: number
}

export const defaultWatchdogLimits: WatchdogLimits = { silenceMs: 15_000, stallMs: 120_000 }

/**
 * One tick never counts for more than this: after the machine slept, or this process was stopped,
 * the engine gets its time to report again before it is judged.
 */
const longestTickMs = 2_000
const tickMs = 1_000

export class EngineWatchdog {
  readonly #limits: WatchdogLimits
  #silentMs = 0
  #stalledMs = 0
  #last: Heartbeat | null = null

  constructor(limits: WatchdogLimits) {
    this.#limits = limits
  }

  heartbeat(beat: Heartbeat): void {
    const busy = beat.running + beat.waiting + beat.training + beat.loading > 0
    if (!busy || beat.progress !== this.#last?.progress) this.#stalledMs = 0
    this.#silentMs = 0
    this.#last = beat
  }

  /** Call it about once a second ({@link untilHung}). Returns what is wrong, or null. */
  tick(elapsedMs: number): string | null {
    const counted = Math.min(elapsedMs, longestTickMs)
    this.#silentMs += counted
    this.#stalledMs += counted
    if (this.#silentMs > this.#limits.silenceMs) {
      return `the engine sent no heartbeat for ${Math.round(this.#silentMs / 1000)} s`
    }
    if (this.#stalledMs > this.#limits.stallMs) {
      return `the engine made no progress for ${Math.round(this.#stalledMs / 1000)} s with work queued`
    }
    return null
  }
}

/** Resolves with what is wrong once the engine hangs; never when `over` fires before. */
export async function untilHung(watchdog: EngineWatchdog, over: AbortSignal): Promise<string> {
  let last = performance.now()
  while (!over.aborted) {
    await sleep(tickMs, undefined, { ref: false })
    const now = performance.now()
    const wrong = watchdog.tick(now - last)
    if (wrong !== null && !over.aborted) return wrong
    last = now
  }
  return new Promise(() => undefined)
}
