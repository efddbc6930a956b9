import { expect, test } from "vitest"
import { stepAt } from "./pick-step.ts"

const steps = [1, 2, 3, 11]
const line = { x: steps, y: [0, 0, 0, 0] }

test.each([
  [0, 1],
  [14, 2],
  [40, 3],
  [75, 11],
  [100, 11],
])("at %s of 100 pixels: step %s", (left, step) => {
  expect(stepAt(steps, [line], { left, width: 100 })).toBe(step)
})

test("where the line of another model goes on, the step is the last of this one", () => {
  const other = { x: [0, 400], y: [0, 0] }
  expect(stepAt(steps, [line, other], { left: 80, width: 100 })).toBe(11)
})

test("without steps there is none", () => {
  expect(stepAt([], [], { left: 3, width: 100 })).toBeNull()
})
