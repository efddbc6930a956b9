import { expect, test } from "vitest"
import { batchesOf } from "./version-values.ts"

const batches = (sizes: number[]) => {
  const listed = sizes.map((size_bytes) => ({ size_bytes }))
  return [...batchesOf(listed, { count: 3, bytes: 10 })].map((batch) => batch.map((one) => one.size_bytes))
}

test("a batch ends before it has too many elements or bytes; none is empty, none is lost", () => {
  expect(batches([])).toEqual([])
  expect(batches([1, 1, 1, 1])).toEqual([[1, 1, 1], [1]])
  expect(batches([4, 6, 1])).toEqual([[4, 6], [1]])
  expect(batches([30, 5, 6, 30, 30, 1])).toEqual([[30], [5], [6], [30], [30], [1]])
})
