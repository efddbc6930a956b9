/** The other side of `ThreadPool`: what a thread does with what it is sent. */
import { move, transferableSymbol, valueSymbol } from "piscina"
import { movableMemory, withBuffers } from "./moved-bytes.ts"
import { failureOf, type ThreadFailure } from "./thread-failure.ts"
import type { ThreadTask } from "./thread-task.ts"

export interface ThreadRequest {
  task: string
  input: object
  /** Answers to the task's lookups so far, in order. */
  answers: readonly unknown[]
}

export type ThreadReply =
  | { kind: "result"; value: object }
  /** `value` is the input, for the next run. */
  | { kind: "lookup"; lookup: unknown; value: object }
  | { kind: "failure"; failure: ThreadFailure; value: object }

type AnyTask = ThreadTask<never, object, unknown>

/** The function that a thread runs for each request. `tasks` loads each by its name. */
export function taskRunner(
  tasks: Readonly<Record<string, () => Promise<AnyTask>>>,
): (request: ThreadRequest) => Promise<unknown> {
  const byName = new Map(Object.entries(tasks))
  return async (request) => {
    const reply = await replyTo(byName.get(request.task), request)
    return move({ [transferableSymbol]: movableMemory(reply.value), [valueSymbol]: reply })
  }
}

async function replyTo(
  load: (() => Promise<AnyTask>) | undefined,
  { task: name, input, answers }: ThreadRequest,
): Promise<ThreadReply> {
  try {
    if (load === undefined) throw new Error(`no thread knows the task "${name}"`)
    const task = await load()
    const steps = task.run(withBuffers(input) as never)
    let step = await steps.next()
    for (const answer of answers) if (step.done !== true) step = await steps.next(answer as never)
    if (step.done === true) return { kind: "result", value: step.value }
    return { kind: "lookup", lookup: step.value, value: input }
  } catch (error) {
    return { kind: "failure", failure: failureOf(error), value: {} }
  }
}
