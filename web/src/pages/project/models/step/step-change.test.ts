import { expect, test } from "vitest"
import { stepMetrics } from "./step-change.ts"

const curve = (metric: string, step: number[], last: number[], spread = 0) => ({
  metric,
  step,
  at: step.map(() => ""),
  min: last.map((value) => value - spread),
  max: last.map((value) => value + spread),
  mean: last,
  last,
})

test("each metric of the step with its value before; those of the step before alone are none of this", () => {
  const curves = [curve("loss", [4, 5], [2, 1], 0.5), curve("val/reward", [5], [0.5]), curve("gone", [4], [9])]
  expect(stepMetrics(curves, 5)).toEqual([
    { metric: "loss", value: 1, spread: [0.5, 1.5], before: 2 },
    { metric: "val/reward", value: 0.5, spread: null, before: null },
  ])
})
