import { expect, test } from "vitest"
import { quotaState, readQuota } from "./quota-words.ts"

test("bytes are typed in GB, everything else in whole numbers", () => {
  expect(readQuota("stored_bytes", "1.5")).toBe(1_500_000_000)
  expect(readQuota("stored_bytes", "107.3741824")).toBe(107_374_182_400)
  expect(readQuota("models", "12")).toBe(12)
})

test.each([
  ["models", "", "A number of models, such as 100."],
  ["models", "many", "A number of models, such as 100."],
  ["models", "1.5", "A whole number of models."],
  ["models", "-1", "At least 0."],
  ["requests_per_minute", "0", "At least 1."],
  ["stored_bytes", "1e9", "At most 9007199 GB."],
] as const)("%s %s is refused", (name, typed, why) => {
  expect(readQuota(name, typed)).toBe(why)
})

test("what is close to its end says so", () => {
  expect([quotaState(89, 100), quotaState(90, 100), quotaState(100, 100), quotaState(0, 0)]).toEqual([
    null,
    "nearly full",
    "full",
    "full",
  ])
})
