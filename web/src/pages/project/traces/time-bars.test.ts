import { expect, test } from "vitest"
import { timeBars } from "./time-bars.ts"

const day = Date.parse("2026-11-20T00:00:00Z")
/** Of units of so many seconds. */
const counted = (seconds: number, ...counts: [place: number, count: number][]) => ({
  unitMs: seconds * 1000,
  counts: counts.map(([place, count]) => ({ start: day + place * seconds * 1000, count })),
})

test("hours are bars without gaps", () => {
  expect(timeBars(counted(3600, [0, 3], [2, 4])).map(({ count }) => count)).toEqual([3, 0, 4])
  expect(timeBars(counted(3600))).toEqual([])
})

test("many hours share bars that begin at even hours", () => {
  const bars = timeBars(counted(3600, [1, 1], [3, 2], [200, 5]))
  expect(bars).toHaveLength(101)
  expect(bars.slice(0, 2).map(({ count }) => count)).toEqual([1, 2])
  expect(bars.at(-1)).toMatchObject({ count: 5, from: Date.parse("2026-11-28T08:00:00Z") })
})

test("minutes and seconds share bars that people count by", () => {
  const [first, , third] = timeBars(counted(60, [7, 1], [19, 2], [400, 3]))
  expect(first).toEqual({ from: day + 5 * 60_000, to: day + 10 * 60_000, count: 1 })
  expect(third).toEqual({ from: day + 15 * 60_000, to: day + 20 * 60_000, count: 2 })
  expect(timeBars(counted(1, [0, 1], [9, 1]))).toHaveLength(10)
})

test("years are bars of whole days", () => {
  const bars = timeBars(counted(3600, [0, 1], [24 * 365 * 4, 2]))
  expect(bars.length).toBeLessThanOrEqual(120)
  expect((bars[0]?.to ?? 0) - (bars[0]?.from ?? 0)).toBe(13 * 86_400_000)
})
