import { expect, test } from "vitest"
import { timeBars } from "./time-bars.ts"

const at = (hour: number, count: number) => ({ start: Date.parse("2026-11-20T00:00:00Z") + hour * 3_600_000, count })

test("hours are bars without gaps", () => {
  expect(timeBars([at(0, 3), at(2, 4)]).map(({ count }) => count)).toEqual([3, 0, 4])
  expect(timeBars([])).toEqual([])
})

test("many hours share bars that begin at even hours", () => {
  const bars = timeBars([at(1, 1), at(3, 2), at(200, 5)])
  expect(bars).toHaveLength(101)
  expect(bars.slice(0, 2).map(({ count }) => count)).toEqual([1, 2])
  expect(bars.at(-1)).toMatchObject({ count: 5, from: Date.parse("2026-11-28T08:00:00Z") })
})
