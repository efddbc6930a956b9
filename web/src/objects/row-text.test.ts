import { expect, test } from "vitest"
import { rowProblem } from "./row-text.ts"

test("what is no row says so", () => {
  const example = '{"question": "…"}'
  expect(rowProblem("[]", example)).toBe('A row is an object: {"question": "…"}.')
  expect(rowProblem("{", example)).toMatch(/^This is no JSON/)
  expect(rowProblem("{}", example)).toBeNull()
})
