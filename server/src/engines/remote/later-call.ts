import type { EngineCall, EngineEvent, EngineResult } from "../engine.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"

/** A call that is made after something else, such as the files that it needs being there. */
export function laterCall<M extends EngineMethod>(
  begun: Promise<EngineCall<M>>,
  /** What is done before the result is handed on. */
  then: (result: EngineResult<M>) => Promise<EngineResult<M>> = (result) => Promise.resolve(result),
): EngineCall<M> {
  const result = begun.then((call) => call.result).then(then)
  // Whoever reads only the events need not await it.
  result.catch(() => undefined)
  return { events: { [Symbol.asyncIterator]: () => eventsOf(begun) }, result }
}

async function* eventsOf<M extends EngineMethod>(begun: Promise<EngineCall<M>>): AsyncGenerator<EngineEvent<M>[]> {
  const call = await begun.catch(() => null)
  if (call !== null) yield* { [Symbol.asyncIterator]: () => call.events[Symbol.asyncIterator]() }
}
