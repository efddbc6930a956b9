/** One engine of a pool, with what the pool knows of it: what this server has given it, and which base models it has. */
import type { BaseRef, HelloResult } from "../../wire/engine/base.ts"
import type { Heartbeat } from "../../wire/engine/frames.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import { type Engine, type EngineCall, EngineFailure, type EngineParams, type EngineStatus } from "../engine.ts"
import type { EngineLoad } from "./placement.ts"

/** Of an engine that does not say. */
const usualRows = 128
const usualMemoryBytes = 16 * 1024 ** 3
/** How long an engine that refuses calls as it is about to stop, or that lacks a base model, is asked last. */
const refusedMs = 15_000
const lackedMs = 60_000

export class PoolMember {
  readonly name: string
  readonly engine: Engine
  /** Jobs of this server that it trains. */
  jobs = 0
  #choices = 0
  /** Choices of other servers, as of the last heartbeat. */
  #others = 0
  readonly #open = new Map<string, number>()
  #loaded = new Set<string>()
  readonly #lacking = new Map<string, number>()
  #refusedAt: number | null = null
  #hello: HelloResult | null = null
  #beat: Heartbeat | null = null

  constructor(name: string, engine: Engine) {
    this.name = name
    this.engine = engine
  }

  status(): EngineStatus {
    const status = this.engine.status()
    if (status.hello !== this.#hello) this.#attached(status.hello)
    if (status.heartbeat !== this.#beat) this.#hear(status.heartbeat)
    return status
  }

  get isReady(): boolean {
    return this.status().state === "ready"
  }

  /** Whether it takes calls, as far as is known. */
  get isTaking(): boolean {
    return this.isReady && (this.#refusedAt === null || performance.now() - this.#refusedAt > refusedMs)
  }

  /** How long it has taken no calls. */
  get awayMs(): number {
    return this.status().awayMs ?? (this.#refusedAt === null ? 0 : performance.now() - this.#refusedAt)
  }

  lacks({ name }: BaseRef): boolean {
    return performance.now() - (this.#lacking.get(name) ?? -Infinity) < lackedMs
  }

  load(base: BaseRef): EngineLoad & { member: PoolMember } {
    const { hello } = this.status()
    const isOpening = this.#open.has(base.name)
    return {
      member: this,
      name: this.name,
      base: this.#loaded.has(base.name) ? "warm" : isOpening ? "loading" : "cold",
      choices: this.#choices + this.#others,
      rows: hello?.max_rows ?? usualRows,
      memoryBytes: hello?.memory_bytes ?? usualMemoryBytes,
      jobs: this.jobs,
    }
  }

  /** `choices`: how many places of the batch it takes; 0 for what is no chat. */
  call<M extends EngineMethod>(
    method: M,
    params: EngineParams<M>,
    { base, choices }: { base: BaseRef; choices: number },
    signal?: AbortSignal,
  ): EngineCall<M> {
    const hello = this.#hello
    this.#choices += choices
    if (choices > 0) this.#open.set(base.name, (this.#open.get(base.name) ?? 0) + 1)
    const call = this.engine.call(method, params, signal)
    const end = (failure: unknown) => {
      this.#choices -= choices
      if (choices > 0) this.#close(base.name)
      // What was true of the engine before it was lost says nothing of the one that is there by now.
      if (hello === this.#hello) this.#learn(base.name, choices, failure)
    }
    call.result.then(() => end(null), end)
    return call
  }

  #close(base: string): void {
    const left = (this.#open.get(base) ?? 1) - 1
    if (left === 0) this.#open.delete(base)
    else this.#open.set(base, left)
  }

  #learn(base: string, choices: number, failure: unknown): void {
    if (failure === null && choices > 0) this.#loaded.add(base)
    if (!(failure instanceof EngineFailure)) return
    if (isOfBase(failure)) this.#lacking.set(base, performance.now())
    if (isRefusal(failure)) this.#refusedAt = performance.now()
  }

  #attached(hello: HelloResult | null): void {
    this.#hello = hello
    this.#refusedAt = null
    this.#loaded = new Set()
    this.#lacking.clear()
  }

  #hear(beat: Heartbeat | null): void {
    this.#beat = beat
    if (beat === null) return
    this.#others = Math.max(0, beat.running + beat.waiting - this.#choices)
    if (beat.bases !== undefined) this.#loaded = new Set(beat.bases)
  }
}

/** The engine has not got the base model, or cannot compute it; another one may. */
export function isOfBase({ kind, param }: EngineFailure): boolean {
  return (kind === "not_found" || kind === "invalid" || kind === "unavailable") && param === "base_model"
}

/** The engine takes no calls. One that names what it has not got is well. */
function isRefusal({ kind, param }: EngineFailure): boolean {
  return kind === "unavailable" && param === null
}
