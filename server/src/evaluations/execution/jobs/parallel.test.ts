import { setImmediate, setTimeout } from "node:timers/promises"
import { expect, test } from "vitest"
import { forEachParallel } from "./parallel.ts"

const items = Array.from({ length: 40 }, (_, index) => index)
const lasting = () => new AbortController().signal

test("forEachParallel works on every item once, eight at a time", async () => {
  const done: number[] = []
  let [running, most] = [0, 0]
  await forEachParallel(items, lasting(), async (item) => {
    most = Math.max(most, ++running)
    await setImmediate()
    running--
    done.push(item)
  })
  expect(done.toSorted((a, b) => a - b)).toEqual(items)
  expect(most).toBe(8)
})

test("forEachParallel starts no item after a failure, and throws it when the items that ran have ended", async () => {
  const started: number[] = []
  let ended = 0
  const work = async (item: number) => {
    started.push(item)
    if (item === 3) throw new TypeError("the store is away")
    await setTimeout(20)
    ended++
  }
  await expect(forEachParallel(items, lasting(), work)).rejects.toThrow("the store is away")
  expect([started.length, ended]).toEqual([8, 7])
  await setTimeout(60)
  expect(started).toHaveLength(8)
})

test("forEachParallel starts no item once its signal is aborted", async () => {
  const stop = new AbortController()
  const started: number[] = []
  const work = async (item: number) => {
    started.push(item)
    await setImmediate()
    if (item === 3) stop.abort(new TypeError("the server stops"))
  }
  await expect(forEachParallel(items, stop.signal, work)).rejects.toThrow("the server stops")
  expect(started.length).toBeLessThanOrEqual(8 + 7)
})
