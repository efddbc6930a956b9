import { expect, test } from "vitest"
import { niceTicks } from "./nice-ticks.ts"

test.each([
  [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [-1, 2, [-1, 0, 1, 2]],
  [3, 361, [100, 200, 300]],
  [0.0012, 0.0019, [0.0012, 0.0014, 0.0016, 0.0018]],
  [0.1, 0.35, [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]],
  [5, 5, [5]],
  [Infinity, -Infinity, []],
  [NaN, 1, []],
])("from %d to %d they are round", (low, high, ticks) => {
  expect(niceTicks(low, high)).toEqual(ticks)
})
