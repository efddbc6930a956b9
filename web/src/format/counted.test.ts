import { expect, test } from "vitest"
import { counted, nounOf } from "./counted.ts"

test.each([
  [0, "0 pairs"],
  [1, "1 pair"],
  [2, "2 pairs"],
  [9999, "9,999 pairs"],
  [58_240, "58.2\u202fk pairs"],
])("%d pairs", (count, expected) => {
  expect(counted(count, "pair", undefined, "en")).toBe(expected)
})

test("the plural is said where it is not the noun with an s, and verbs go along", () => {
  expect(counted(1, "trajectory", "trajectories")).toBe("1 trajectory")
  expect(counted(3, "trajectory", "trajectories")).toBe("3 trajectories")
  expect(counted(0, "row lacks", "rows lack")).toBe("0 rows lack")
  expect([0, 1, 2].map((count) => nounOf(count, "is", "are"))).toEqual(["are", "is", "are"])
  expect([1, 2].map((count) => nounOf(count, "call"))).toEqual(["call", "calls"])
})
