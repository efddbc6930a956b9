/** The receiving side of one call: a queue of events and the promise of its result. */
import type { EngineMethod } from "../wire/engine/methods.ts"
import type { EngineCall, EngineEvent, EngineFailure, EngineResult } from "./engine.ts"

/**
 * Most bytes of events, as frames, that may wait for their reader; in memory they are about four times as large.
 * Only a reader that has stopped reading gets here; its call ends, the others go on.
 */
const maximumQueuedBytes = 32 * 1024 * 1024

type AnyEvent = { event: string; data: unknown }

/** `M` is erased here: the connection routes frames by id and trusts the engine's shapes (the hot path parses no schema). */
export class CallInbox {
  #queue: AnyEvent[] = []
  #queuedBytes = 0
  #wake: (() => void) | null = null
  #settled = false
  #resolve!: (result: unknown) => void
  #reject!: (failure: EngineFailure) => void
  readonly #result: Promise<unknown>

  constructor() {
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever reads only the events still learns of the end by them; nobody need await the result.
    this.#result.catch(() => undefined)
  }

  get settled(): boolean {
    return this.#settled
  }

  /** false: the reader is too far behind and the call should be cancelled. */
  push(event: AnyEvent, bytes: number): boolean {
    if (this.#settled) return true
    this.#queue.push(event)
    this.#queuedBytes += bytes
    this.#notify()
    return this.#queuedBytes <= maximumQueuedBytes
  }

  succeed(result: unknown): void {
    this.#settled = true
    this.#resolve(result)
    this.#notify()
  }

  fail(failure: EngineFailure): void {
    this.#settled = true
    this.#reject(failure)
    this.#notify()
  }

  asCall<M extends EngineMethod>(): EngineCall<M> {
    return {
      events: { [Symbol.asyncIterator]: () => this.#batches<M>() },
      result: this.#result as Promise<EngineResult<M>>,
    }
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = null
  }

  async *#batches<M extends EngineMethod>(): AsyncGenerator<EngineEvent<M>[]> {
    for (;;) {
      if (this.#queue.length > 0) {
        const batch = this.#queue
        this.#queue = []
        this.#queuedBytes = 0
        yield batch as EngineEvent<M>[]
      } else if (this.#settled) {
        return
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    }
  }
}

/** A call that fails without having been sent. */
export function failedCall<M extends EngineMethod>(failure: EngineFailure): EngineCall<M> {
  const inbox = new CallInbox()
  inbox.fail(failure)
  return inbox.asCall<M>()
}
