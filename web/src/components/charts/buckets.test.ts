import { expect, test } from "vitest"
import { alignLines, wholeRange } from "./buckets.ts"

const line = (y: (number | null)[], step = 1) => ({ x: y.map((_, index) => index * step), y })

test("short lines are drawn as they are, on the places that any of them has", () => {
  const lines = [line([1, 2, 3]), line([10, 20], 2), { x: [0.5], y: [null] }]
  expect(alignLines(lines, 0, 2, 100)).toEqual([
    [0, 0.5, 1, 2],
    [1, null, 2, 3],
    [10, null, null, 20],
    [null, null, null, null],
  ])
})

test("of a long line every peak is kept, in the order in which peaks came", () => {
  const y = Array.from({ length: 10_000 }, () => 0.5)
  y[1234] = 9
  y[1236] = -7
  y[8000] = NaN
  const [x, values = []] = alignLines([line(y)], 0, 10_000, 100)
  expect([x.length, values.length]).toEqual([200, 200])
  expect([Math.max(...(values as number[])), Math.min(...(values as number[]))]).toEqual([9, -7])
  expect(values.indexOf(9)).toBeLessThan(values.indexOf(-7))
  expect(x[values.indexOf(9)]).toBe(1200)
})

test.each([
  [1608, 300, 670],
  [1719, 300, 573],
  [2940, 300, 147],
])("of %i steps in %i columns, step %i lies where two columns meet, and is in one of them", (last, columns, step) => {
  const y = Array.from({ length: last + 1 }, (_, index) => (index === step ? 1 : 0))
  const [, values = []] = alignLines([line(y)], 0, last, columns)
  expect(values.filter((value) => value === 1)).toHaveLength(1)
})

test("a range shows its points, and the next beyond each edge", () => {
  const y = Array.from({ length: 1000 }, (_, index) => index)
  const [x] = alignLines([line(y)], 500, 502, 100)
  expect(x).toEqual([499, 500, 501, 502])
})

test("where a line has no point there is no value", () => {
  const sparse = { x: [0, 99_999], y: [1, 2] }
  const [, first = [], second = []] = alignLines(
    [line(Array.from({ length: 100_000 }, () => 0)), sparse],
    0,
    100_000,
    10,
  )
  expect(first.filter((value) => value === null)).toEqual([])
  expect(second.filter((value) => value !== null)).toEqual([1, 1, 2, 2])
})

test("the whole range of lines, and of none", () => {
  expect(wholeRange([line([1, 2, 3]), { x: [-1], y: [0] }])).toEqual([-1, 2])
  expect(wholeRange([line([])])).toBeNull()
})
