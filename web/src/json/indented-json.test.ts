import { expect, test } from "vitest"
import { compactJson, indentedJson } from "./indented-json.ts"

const exact = '{"id":12345678901234567890,"score":1.0,"tags":["a  b",1e5]}'

test("a value has a line for each member, and its numbers as they were written", () => {
  expect(indentedJson(exact)).toBe(
    '{\n  "id": 12345678901234567890,\n  "score": 1.0,\n  "tags": [\n    "a  b",\n    1e5\n  ]\n}',
  )
  expect(compactJson(indentedJson(exact))).toBe(exact)
})

test("what is no JSON stays as it is", () => {
  for (const text of ['{"score": NaN}', "{", ""]) expect([indentedJson(text), compactJson(text)]).toEqual([text, text])
})
