/** A call that is made on one engine after another, until one has begun it. */
import type { EngineMethod } from "../../wire/engine/methods.ts"
import { type EngineCall, type EngineEvent, EngineFailure, type EngineResult } from "../engine.ts"

interface Attempt<M extends EngineMethod> {
  call: EngineCall<M>
  /** It failed before its first event: later attempts bring the events. */
  isOver: boolean
  /** Resolves when the reader of the events has had all of this attempt. */
  read: PromiseWithResolvers<void>
  next: PromiseWithResolvers<Attempt<M> | null>
}

/**
 * `place` makes the call, told why the attempt before has failed; what it rejects with ends the call. It is not asked again
 * once an event was handed on.
 */
export function movingCall<M extends EngineMethod>(
  place: (failure: EngineFailure | null) => Promise<EngineCall<M>>,
): EngineCall<M> {
  const first = Promise.withResolvers<Attempt<M> | null>()
  let isRead = false
  let hasBegun = false

  async function run(): Promise<EngineResult<M>> {
    let { resolve: announce } = first
    let failure: EngineFailure | null = null
    try {
      for (;;) {
        const attempt: Attempt<M> = {
          call: await place(failure),
          isOver: false,
          read: Promise.withResolvers(),
          next: Promise.withResolvers(),
        }
        announce(attempt)
        announce = attempt.next.resolve
        try {
          return await attempt.call.result
        } catch (error) {
          // Events that came just before the failure are still on their way to the reader.
          if (isRead) await attempt.read.promise
          if (hasBegun || !(error instanceof EngineFailure)) throw error
          attempt.isOver = true
          failure = error
        }
      }
    } finally {
      announce(null)
    }
  }

  async function* events(): AsyncGenerator<EngineEvent<M>[]> {
    isRead = true
    for (let attempt = await first.promise; attempt !== null; attempt = await attempt.next.promise) {
      if (attempt.isOver) continue
      try {
        for await (const batch of attempt.call.events) {
          hasBegun = true
          yield batch
        }
      } finally {
        attempt.read.resolve()
      }
    }
  }

  const result = run()
  // Whoever reads only the events need not await it.
  result.catch(() => undefined)
  return { events: { [Symbol.asyncIterator]: events }, result }
}
