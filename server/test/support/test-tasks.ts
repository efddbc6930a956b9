/** Tasks for the tests of `ThreadPool`, in the module that its threads load. */
import { HeddleError } from "../../src/errors.ts"
import { taskRunner } from "../../src/threads/task-runner.ts"
import { plainTask, threadTask } from "../../src/threads/thread-task.ts"

/** Takes bytes, and returns them with their sum. */
export const sumTask = plainTask({
  name: "sum",
  ownThreadBytes: 8,
  work: ({ bytes }: { bytes: Buffer }) => ({ bytes, sum: bytes.reduce((sum, byte) => sum + byte, 0) }),
})

/** Makes two lookups; returns their answers, and how often the task has begun in this thread. */
let begun = 0
export const lookupTask = threadTask<
  { bytes: Buffer },
  { answers: string[]; begun: number; bytes: number },
  string,
  string
>({
  name: "lookups",
  ownThreadBytes: 8,
  *run({ bytes }) {
    begun += 1
    const first = yield "first"
    const second = yield `second after ${first}`
    return { answers: [first, second], begun, bytes: bytes.length }
  },
})

export const refusingTask = plainTask({
  name: "refusing",
  ownThreadBytes: 0,
  work: (): object => {
    throw new HeddleError("value_error", "the value is bad", { extras: { place: "here" } })
  },
})

export const endlessTask = plainTask({
  name: "endless",
  ownThreadBytes: 0,
  work: (): object => {
    for (;;) continue
  },
})

export const hungryTask = plainTask({
  name: "hungry",
  ownThreadBytes: 0,
  work: (): object => {
    const held: object[] = []
    for (;;) held.push(Array.from({ length: 10_000 }, () => held.length))
  },
})

/** Fills buffers, which are no part of the heap, 2 GiB in all. */
export const bufferingTask = plainTask({
  name: "buffering",
  ownThreadBytes: 0,
  work: (): object => {
    const held: Uint8Array[] = []
    while (held.length < 128) {
      const until = performance.now() + 10
      held.push(new Uint8Array(16 * 1024 ** 2).fill(1))
      while (performance.now() < until) continue
    }
    return { buffers: held.length }
  },
})

export const dyingTask = plainTask({
  name: "dying",
  ownThreadBytes: 0,
  work: (): object => {
    process.exit(3)
  },
})

const tasks = [sumTask, lookupTask, refusingTask, endlessTask, hungryTask, bufferingTask, dyingTask]

export const runTask = taskRunner(Object.fromEntries(tasks.map((task) => [task.name, async () => task])))
