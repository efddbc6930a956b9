import { expect, test } from "vitest"
import { rewardDeviationMultiplier } from "./learning-rate-multiplier.ts"

const points = (...values: [number, number][]) => values.map(([step, value]) => ({ step, value }))

test.each([
  ["no history", points(), 1],
  ["one point", points([3, 0.2]), 1],
  // 0.5 − 0.1·step
  ["a falling line", points([1, 0.4], [2, 0.3], [3, 0.2]), 0.4],
  // Least squares through (1, 0.4), (2, 0.1), (3, 0.2): slope −0.1, intercept 13/30; 4/30 at step 3.
  ["noise around a line", points([1, 0.4], [2, 0.1], [3, 0.2]), 4 / 13],
  ["a rising line", points([1, 0.2], [2, 0.3]), 3],
  ["an intercept that is not positive", points([1, 0], [2, 0.5]), 1],
  ["a line that has crossed zero", points([1, 1], [2, 0.5], [3, 0], [10, -4]), 0],
])("training-api 7.6: %s", (_, history, multiplier) => {
  expect(rewardDeviationMultiplier(history)).toBeCloseTo(multiplier, 12)
})
