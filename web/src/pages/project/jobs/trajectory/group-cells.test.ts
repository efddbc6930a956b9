import { expect, test } from "vitest"
import { bestAndWorst, rewardScale, rewardText } from "./group-cells.ts"

const rewards = (...all: number[]) => all.map((reward, index) => ({ index, reward }))

test("of equals the first is the best and the first the worst", () =>
  expect(bestAndWorst(rewards(0, 1, 1, 0))).toEqual({ best: 1, worst: 0 }))
test("equal rewards have neither", () => expect(bestAndWorst(rewards(0.5, 0.5))).toBeNull())

test.each([
  [0, 1, { low: 0, high: 1 }],
  [0.2, 0.6, { low: 0, high: 1 }],
  [-3, 12, { low: -3, high: 12 }],
  [null, null, { low: 0, high: 1 }],
])("from %j to %j", (lowest, highest, scale) => expect(rewardScale(lowest, highest)).toEqual(scale))

test.each([
  [1, "1"],
  [0, "0"],
  [-2, "\u22122"],
  [0.125, ".13"],
  [12.5, "12.50"],
])("%j is written as %j", (reward, text) => expect(rewardText(reward)).toBe(text))
