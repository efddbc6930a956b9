import { expect, test } from "vitest"
import { formatMetricChange, formatMetricWithUnit, inReadingOrder, isLoss, metricName } from "./metric-words.ts"

test("metrics that are known have names, formats and units; others keep their name", () => {
  expect([metricName("grad_norm"), metricName("train/apples")]).toEqual(["Gradient norm", "train/apples"])
  expect(formatMetricWithUnit("train/reward", 0.5)).toBe("0.500")
  expect(formatMetricWithUnit("entropy", 0.351)).toBe("0.351\u202fnats")
  expect(formatMetricWithUnit("train/exception_rate", 0.015)).toBe("1.5\u202f%")
})

test("a change has its sign, and that of a share is in points, however small", () => {
  expect(formatMetricChange("train/reward", 0.0625)).toBe("+0.063")
  expect(formatMetricChange("train/exception_rate", -0.015)).toBe("−1.5\u202fpts")
  expect(formatMetricChange("train/exception_rate", 0.0002)).toBe("±0.0\u202fpts")
})

test("rewards come first, then gradient steps, then what the data came to, then what nobody knows", () => {
  expect(inReadingOrder(["b", "data/groups", "a", "entropy", "train/reward"])).toEqual([
    "train/reward",
    "entropy",
    "data/groups",
    "a",
    "b",
  ])
})

test("what could not be trained on is a loss", () => {
  expect(["data/sequences_dropped_overlong", "data/groups_of_one", "data/groups"].map(isLoss)).toEqual([
    true,
    true,
    false,
  ])
})
