/** Whether an engine takes calls now, and those who wait until it does. */
import type { HelloResult } from "../wire/engine/base.ts"
import type { Heartbeat } from "../wire/engine/frames.ts"
import type { EngineMethod } from "../wire/engine/methods.ts"
import {
  type Engine,
  type EngineCall,
  EngineFailure,
  type EngineParams,
  type EngineState,
  type EngineStatus,
  type JobPlaces,
} from "./engine.ts"
import { failedCall } from "./engine-call.ts"

type Calls = Pick<Engine, "call">

export class EngineStanding {
  heartbeat: Heartbeat | null = null
  #hello: HelloResult | null = null
  #state: EngineState = "starting"
  #reason: string | null = null
  #calls: Calls | null = null
  #awaySince = performance.now()
  readonly #waiters = new Set<() => void>()

  status(): EngineStatus {
    const awayMs = this.#state === "ready" ? null : performance.now() - this.#awaySince
    return { state: this.#state, hello: this.#hello, heartbeat: this.heartbeat, reason: this.#reason, awayMs }
  }

  /** As `Engine.jobPlaces`. A job that would wait for an engine that is away has not been tried. */
  jobPlaces(): JobPlaces {
    const isAway = this.#state === "unreachable" || this.#state === "closed"
    return { engines: isAway ? 0 : 1, waiting: 0 }
  }

  /** From here on calls go to `calls`. */
  attach(hello: HelloResult, calls: Calls): void {
    this.#hello = hello
    this.#calls = calls
    this.#change("ready", null)
  }

  enter(state: Exclude<EngineState, "ready">, reason: string | null): void {
    if (this.#state === "ready") this.#awaySince = performance.now()
    this.#calls = null
    this.heartbeat = null
    this.#change(state, reason)
  }

  /** From here on calls wait for what comes next. */
  lose(reason: string): void {
    if (this.#state === "ready") this.enter("restarting", reason)
  }

  /** As `Engine.call`. */
  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M> {
    return this.#calls === null ? failedCall(this.#unavailable()) : this.#calls.call(method, params, signal)
  }

  /** As `Engine.ready`. */
  async ready(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.#state !== "ready") {
      const left = deadline - performance.now()
      if (left <= 0 || this.#state === "closed" || this.#state === "unreachable") throw this.#unavailable()
      await this.#nextChange(left)
    }
  }

  #unavailable(): EngineFailure {
    return new EngineFailure("unavailable", `the engine is not ready: ${this.#reason ?? "it is starting"}`)
  }

  #change(state: EngineState, reason: string | null): void {
    this.#state = state
    this.#reason = reason
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
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
