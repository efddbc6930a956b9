import { expect, test } from "vitest"
import { stepAt } from "./pick-step.ts"

const line = { x: [1, 2, 3, 11], y: [0, 0, 0, 0] }

test.each([
  [0, 1],
  [14, 2],
  [40, 3],
  [75, 11],
  [100, 11],
])("at %s of 100 pixels: step %s", (left, step) => {
  expect(stepAt([line], { left, width: 100 })).toBe(step)
})

test("without a line there is no step", () => {
  expect(stepAt([], { left: 3, width: 100 })).toBeNull()
})
