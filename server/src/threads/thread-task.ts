/**
 * Work that may run on another thread than the server's own.
 *
 * A task is a generator. It yields lookups in a store, which only the server's own thread can answer, and returns its
 * result. Run on the server's own thread it simply goes on with the answer. On another thread it ends there, and is run
 * again from its beginning with the answers so far: no thread waits for a store, and no state lies in a thread between two
 * runs. A task must therefore do the same each time, and look things up early.
 *
 * Inputs and results cross between threads as structured clones. Bytes that are fields of theirs are moved, not copied;
 * anything else should be small, since cloning a large value blocks the thread as long as making it.
 */

/** A task's steps: it yields lookups of type `L`, receives answers of type `A`, and returns a result. */
export type Steps<L, A, R> = Generator<L, R, A> | AsyncGenerator<L, R, A>

export interface ThreadTask<I extends object, R extends object, L = never, A = never> {
  /** By which the other thread knows the task. */
  name: string
  /** A payload of fewer bytes is worked on right here: to hand it over would take longer than to do it. */
  ownThreadBytes: number
  run: (input: I) => Steps<L, A, R>
}

/** Keeps the types; returns its argument. */
export function threadTask<I extends object, R extends object, L = never, A = never>(
  task: ThreadTask<I, R, L, A>,
): ThreadTask<I, R, L, A> {
  return task
}

/** A task without lookups. */
export function plainTask<I extends object, R extends object>(task: {
  name: string
  ownThreadBytes: number
  work: (input: I) => R | Promise<R>
}): ThreadTask<I, R> {
  const { name, ownThreadBytes, work } = task
  return {
    name,
    ownThreadBytes,
    async *run(input) {
      yield* []
      return work(input)
    },
  }
}

/** The answer to a lookup. */
export interface Answer<A> {
  value: A
  /** Size of a large answer, which is then worked on where a payload of that size would be. */
  bytes?: number
}

export type Answering<L, A> = (lookup: L) => Promise<Answer<A>>

/** For tasks without lookups. */
export const noLookups = () => Promise.reject(new Error("the task has no lookups"))

/** How far a task came on this thread: to its result, or to an answer that is too large to go on with here. */
export type Progress<A, R> = { result: R } | { answers: A[] }

/** Runs a task on this thread, as long as the answers that it gets are small. */
export async function runHere<I extends object, R extends object, L, A>(
  task: ThreadTask<I, R, L, A>,
  input: I,
  answer: Answering<L, A>,
): Promise<Progress<A, R>> {
  const steps = task.run(input)
  const answers: A[] = []
  let step = await steps.next()
  while (step.done !== true) {
    const { value, bytes = 0 } = await answer(step.value)
    answers.push(value)
    if (bytes >= task.ownThreadBytes) return { answers }
    step = await steps.next(value)
  }
  return { result: step.value }
}
