import { expect, test } from "vitest"
import { histogramSteps } from "./histogram-steps.ts"

test("steps with bins of their own stand on one scale, against the largest part of all", () => {
  const steps = histogramSteps(
    [
      { bins: [0, 1, 2], counts: [3, 1] },
      { bins: [2, 4], counts: [10] },
    ],
    4,
  )
  expect(steps).toEqual({
    low: 0,
    high: 4,
    shares: [
      [1, 1 / 3, 0, 0],
      [0, 0, 2 / 3, 2 / 3],
    ],
  })
})

test("of one step, of equal values and of no values there is nothing to compare", () => {
  const one = { bins: [0, 1], counts: [1] }
  expect(histogramSteps([one], 4)).toBeNull()
  expect(
    histogramSteps(
      [
        { bins: [1, 1], counts: [2] },
        { bins: [1, 1], counts: [2] },
      ],
      4,
    ),
  ).toBeNull()
  expect(
    histogramSteps(
      [
        { bins: [0, 1], counts: [0] },
        { bins: [0, 1], counts: [0] },
      ],
      4,
    ),
  ).toBeNull()
})
