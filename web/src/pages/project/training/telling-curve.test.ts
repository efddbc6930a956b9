import { expect, test } from "vitest"
import { tellingCurve } from "./telling-curve.ts"

const curve = (metric: string) => ({ metric, step: [1], at: [""], min: [0], max: [0], mean: [0], last: [0] })

test("what was held out tells more than what was trained on, and a reward more than a loss", () => {
  const curves = [curve("policy_loss"), curve("data/rows"), curve("train/reward"), curve("val/reward")]
  expect(tellingCurve(curves)).toEqual({ name: "held-out reward", curve: curve("val/reward") })
  expect(tellingCurve(curves.slice(0, 3))?.curve.metric).toBe("train/reward")
  expect(tellingCurve(curves.slice(0, 2))).toEqual({ name: "loss", curve: curve("policy_loss") })
  expect(tellingCurve([curve("data/rows")])).toBeNull()
})
