import { expect, test } from "vitest"
import { noCountFrom, noNumber, numberOf } from "./typed-numbers.ts"

test.each([
  ["0.5", 0.5],
  [" 3 ", 3],
  ["1e-4", 0.0001],
  ["", undefined],
  ["ten", undefined],
  ["Infinity", undefined],
])("“%s” is %s", (text, number) => {
  expect(numberOf(text)).toBe(number)
  expect(noNumber(text)).toBe(number === undefined ? "This is no number." : null)
})

test.each([
  ["1", null],
  ["0", "This is no whole number from 1 on."],
  ["2.5", "This is no whole number from 1 on."],
  ["many", "This is no whole number from 1 on."],
  ["12345678901234567890", "This is no whole number from 1 on."],
])("as a count from 1 on “%s” has the problem %s", (text, problem) => {
  expect(noCountFrom(1)(text)).toBe(problem)
})
