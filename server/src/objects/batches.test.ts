import { expect, test } from "vitest"
import { batchesOf } from "./batches.ts"

const batches = (sizes: number[]) => [...batchesOf(sizes, { count: 3, size: 10 }, (size) => size)]

test("a batch ends before it has too many elements or too large a size; none is empty, none is lost", () => {
  expect(batches([])).toEqual([])
  expect(batches([1, 1, 1, 1])).toEqual([[1, 1, 1], [1]])
  expect(batches([4, 6, 1])).toEqual([[4, 6], [1]])
  expect(batches([30, 5, 6, 30, 30, 1])).toEqual([[30], [5], [6], [30], [30], [1]])
})
