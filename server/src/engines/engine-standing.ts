/** Whether an engine takes calls now, and those who wait until it does. */
import type { HelloResult } from "../wire/engine/base.ts"
import type { Heartbeat } from "../wire/engine/frames.ts"
import { EngineFailure, type EngineState, type EngineStatus } from "./engine.ts"

export class EngineStanding {
  hello: HelloResult | null = null
  heartbeat: Heartbeat | null = null
  #state: EngineState = "starting"
  #reason: string | null = null
  readonly #waiters = new Set<() => void>()

  get state(): EngineState {
    return this.#state
  }

  status(): EngineStatus {
    return { state: this.#state, hello: this.hello, heartbeat: this.heartbeat, reason: this.#reason }
  }

  enter(state: EngineState, reason: string | null): void {
    this.#state = state
    this.#reason = reason
    if (state !== "ready") this.heartbeat = null
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
  }

  /** From here on calls wait for what comes next. */
  lose(reason: string): void {
    if (this.#state === "ready") this.enter("restarting", reason)
  }

  unavailable(): EngineFailure {
    const why = this.#reason === null ? "it is starting" : this.#reason
    return new EngineFailure("unavailable", `the engine is not ready: ${why}`)
  }

  /** As `Engine.ready`. */
  async ready(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.#state !== "ready") {
      const left = deadline - performance.now()
      if (left <= 0 || this.#state === "closed" || this.#state === "unreachable") throw this.unavailable()
      await this.#nextChange(left)
    }
  }

  #nextChange(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, timeoutMs)
      const waiters = this.#waiters
      function done() {
        clearTimeout(timer)
        waiters.delete(done)
        resolve()
      }
      waiters.add(done)
    })
  }
}
