import { expect, test } from "vitest"
import { smoothed } from "./smooth.ts"

test("without weight the values stay", () => {
  expect(smoothed([1, 5, 2], 0)).toEqual([1, 5, 2])
})

test("a constant stays constant from the first value on", () => {
  expect(smoothed([3, 3, 3], 0.5)).toEqual([3, 3, 3])
})

test("later values weigh more than earlier ones", () => {
  const [first, second] = smoothed([0, 3], 0.5)
  expect([first, second]).toEqual([0, 2])
})
