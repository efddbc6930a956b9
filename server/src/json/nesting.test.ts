import { expect, test } from "vitest"
import { isNestedDeeper } from "./nesting.ts"

const nested = (levels: number, inner = "") => "[".repeat(levels) + inner + "]".repeat(levels)

test.each([
  [nested(3), 3, false],
  [nested(4), 3, true],
  ['{"a":{"b":{"c":{}}}}', 3, true],
  [`[${nested(2)},${nested(2)},${nested(2)}]`, 3, false],
  ['["[[[[[[", "{{{{{{"]', 2, false],
  ['["\\"[[[[[[", "\\\\", [[1]]]', 2, true],
  ['["\\"[[[[[[", "\\\\", [1]]', 2, false],
  ['["never closed [[[[[[', 2, false],
])("%j in more than %i levels: %s", (text, levels, deeper) => {
  expect(isNestedDeeper(text, levels)).toBe(deeper)
})

test("a text of millions of levels is looked at as far as the limit", () => {
  expect(isNestedDeeper(nested(5_000_000), 200)).toBe(true)
})
