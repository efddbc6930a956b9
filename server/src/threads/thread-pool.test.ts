import { afterEach, expect, test } from "vitest"
import * as tasks from "../../test/support/test-tasks.ts"
import { defaultLimits } from "../limits.ts"
import { inScope, type WorkScope } from "../work/work-scope.ts"
import { ThreadPool } from "./thread-pool.ts"

const pools: ThreadPool[] = []

afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())))

function open(changes: Partial<typeof defaultLimits> = {}, memoryBytes?: number): ThreadPool {
  const entry = new URL("../../test/support/test-tasks.ts", import.meta.url)
  const pool = new ThreadPool(entry, { ...defaultLimits, payload_threads: 1, ...changes }, memoryBytes)
  pools.push(pool)
  return pool
}

const noAnswer = () => Promise.reject(new Error("no lookup was expected"))
const large = { bytes: 100, answer: noAnswer }

test("a small payload is worked on here, a large one on a thread, to the same result", async () => {
  const pool = open()
  const small = Buffer.from([1, 2, 3])
  expect(await pool.run(tasks.sumTask, { bytes: small }, { bytes: 3, answer: noAnswer })).toEqual({
    bytes: small,
    sum: 6,
  })
  const bytes = Buffer.alloc(300_000, 1)
  const { sum, bytes: back } = await pool.run(tasks.sumTask, { bytes }, large)
  expect(sum).toBe(300_000)
  expect(Buffer.isBuffer(back)).toBe(true)
  expect(back.equals(Buffer.alloc(300_000, 1))).toBe(true)
  // They were moved: no copy was left behind.
  expect(bytes.length).toBe(0)
})

test("a part of a larger memory is copied, and what lies beside it stays", async () => {
  const memory = Buffer.alloc(1_000_000, 7)
  const part = memory.subarray(0, 200_000)
  expect((await open().run(tasks.sumTask, { bytes: part }, large)).sum).toBe(1_400_000)
  expect(memory.length).toBe(1_000_000)
  expect(part[199_999]).toBe(7)
})

test("the caller answers lookups, and the task goes on with the answers", async () => {
  const lookups: string[] = []
  const answer = async (lookup: string) => {
    lookups.push(lookup)
    return { value: `${lookup}!` }
  }
  const bytes = Buffer.alloc(200_000)
  const there = await open().run(tasks.lookupTask, { bytes }, { bytes: 200_000, answer })
  expect(there).toEqual({ answers: ["first!", "second after first!!"], begun: 3, bytes: 200_000 })
  expect(lookups).toEqual(["first", "second after first!"])
  const here = await open().run(tasks.lookupTask, { bytes: Buffer.alloc(1) }, { bytes: 1, answer })
  expect(here).toEqual({ answers: ["first!", "second after first!!"], begun: 1, bytes: 1 })
})

test("a small payload moves to a thread when the answer to a lookup is large", async () => {
  const answer = async (lookup: string) => ({ value: `${lookup}!`, bytes: lookup === "first" ? 8 : 0 })
  const bytes = Buffer.alloc(7)
  const { answers } = await open().run(tasks.lookupTask, { bytes }, { bytes: 7, answer })
  expect(answers).toEqual(["first!", "second after first!!"])
})

test("an error of the list stays what it is", async () => {
  await expect(open().run(tasks.refusingTask, {}, large)).rejects.toMatchObject({
    code: "value_error",
    status: 400,
    message: "the value is bad",
    details: { extras: { place: "here" } },
  })
})

test("what takes too long or too much memory is refused, and the next task finds a thread", async () => {
  const pool = open({ payload_work_ms: 300, payload_memory_bytes: 64 * 1024 ** 2 })
  await expect(pool.run(tasks.endlessTask, {}, large)).rejects.toMatchObject({
    code: "payload_too_large",
    message: "the request takes more than 0.3 s of work. Send it in smaller parts",
  })
  const patient = open({ payload_memory_bytes: 64 * 1024 ** 2 })
  await expect(patient.run(tasks.hungryTask, {}, large)).rejects.toMatchObject({
    code: "payload_too_large",
    message: "the request takes more than 64 MiB of memory to be read. Send it in smaller parts",
  })
  expect((await patient.run(tasks.sumTask, { bytes: Buffer.alloc(9, 1) }, large)).sum).toBe(9)
})

test("what takes too much memory in buffers is refused, and the next task finds a thread", async () => {
  const pool = open({ payload_memory_bytes: 64 * 1024 ** 2 })
  await expect(pool.run(tasks.bufferingTask, {}, large)).rejects.toMatchObject({
    code: "payload_too_large",
    message: "the request takes more than 64 MiB of memory to be read. Send it in smaller parts",
  })
  expect((await pool.run(tasks.sumTask, { bytes: Buffer.alloc(9, 1) }, large)).sum).toBe(9)
  await expect(pool.run(tasks.dyingTask, {}, large)).rejects.toThrow("exit")
})

test("law 8: on a machine with little memory threads have less than their limit", async () => {
  const pool = open({ payload_threads: 2 }, 1024 ** 3)
  const refused = {
    code: "payload_too_large",
    message: "the request takes more than 128 MiB of memory to be read. Send it in smaller parts",
  }
  await expect(pool.run(tasks.hungryTask, {}, large)).rejects.toMatchObject(refused)
  await expect(pool.run(tasks.bufferingTask, {}, large)).rejects.toMatchObject(refused)
  expect((await pool.run(tasks.sumTask, { bytes: Buffer.alloc(9, 1) }, large)).sum).toBe(9)
})

test("a thread that dies fails its own task only, and another takes its place", async () => {
  const pool = open()
  const dying = pool.run(tasks.dyingTask, {}, large)
  const next = pool.run(tasks.sumTask, { bytes: Buffer.alloc(10, 2) }, large)
  await expect(dying).rejects.toThrow("exit")
  expect((await next).sum).toBe(20)
})

function scopeOf(userId: string): { scope: WorkScope; leave: () => void } {
  const client = new AbortController()
  const scope = { userId, teamId: userId, signal: client.signal }
  return { scope, leave: () => client.abort(new Error(`${userId} left`)) }
}

test("a client that leaves ends its task, running or waiting", async () => {
  const pool = open()
  const running = scopeOf("running")
  const waiting = scopeOf("waiting")
  const first = inScope(running.scope, () => pool.run(tasks.endlessTask, {}, large))
  const second = inScope(waiting.scope, () => pool.run(tasks.endlessTask, {}, large))
  const third = pool.run(tasks.sumTask, { bytes: Buffer.alloc(8, 1) }, large)
  waiting.leave()
  await expect(second).rejects.toThrow("waiting left")
  running.leave()
  await expect(first).rejects.toThrow("running left")
  expect((await third).sum).toBe(8)
  expect(pool.queue.snapshot().cancelled).toEqual({ waiting: 1, running: 1 })
})

test("one user's tasks leave a thread to the others", async () => {
  const pool = open({ payload_threads: 2 })
  const greedy = scopeOf("greedy")
  const held = [1, 2, 3].map(() => inScope(greedy.scope, () => pool.run(tasks.endlessTask, {}, large)))
  const other = await inScope(scopeOf("other").scope, () =>
    pool.run(tasks.sumTask, { bytes: Buffer.alloc(9, 1) }, large),
  )
  expect(other.sum).toBe(9)
  greedy.leave()
  expect((await Promise.allSettled(held)).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"])
})

test("more of a user's tasks than may wait are refused", async () => {
  const pool = open({ payload_waiting_per_user: 1 })
  const { scope, leave } = scopeOf("user")
  const run = () => inScope(scope, () => pool.run(tasks.endlessTask, {}, large))
  const held = [run(), run()]
  await expect(run()).rejects.toMatchObject({
    code: "rate_limit_exceeded",
    message:
      "1 large requests that you asked for wait already, and no user may have more; " +
      "wait for some of their answers, then send this again",
  })
  leave()
  expect((await Promise.allSettled(held)).map(({ status }) => status)).toEqual(["rejected", "rejected"])
})
