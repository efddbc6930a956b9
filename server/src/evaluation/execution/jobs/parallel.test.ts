import { setImmediate, setTimeout } from "node:timers/promises"
import { expect, test } from "vitest"
import { forEachParallel } from "./parallel.ts"

const items = Array.from({ length: 40 }, (_, index) => index)
const lasting = () => new AbortController().signal

test("every item once, eight at a time", async () => {
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

test("after a failure no more are begun, and it is thrown when those that ran have ended", async () => {
  const begun: number[] = []
  let ended = 0
  const work = async (item: number) => {
    begun.push(item)
    if (item === 3) throw new TypeError("the store is away")
    await setTimeout(20)
    ended++
  }
  await expect(forEachParallel(items, lasting(), work)).rejects.toThrow("the store is away")
  expect([begun.length, ended]).toEqual([8, 7])
  await setTimeout(60)
  expect(begun).toHaveLength(8)
})

test("when it is aborted no more are begun", async () => {
  const stop = new AbortController()
  const begun: number[] = []
  const work = async (item: number) => {
    begun.push(item)
    await setImmediate()
    if (item === 3) stop.abort(new TypeError("the server stops"))
  }
  await expect(forEachParallel(items, stop.signal, work)).rejects.toThrow("the server stops")
  expect(begun.length).toBeLessThanOrEqual(8 + 7)
})
