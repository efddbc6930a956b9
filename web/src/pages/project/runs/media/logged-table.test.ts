import { expect, test } from "vitest"
import type { JsonText } from "../../../../json/json-text.ts"
import { cellNumber, cellShown, loggedTable, rowText } from "./logged-table.ts"

const text = (value: string) => value as JsonText

test("rows keep every digit, and what JSON has no word for is a text", () => {
  const table = loggedTable('\n{"columns": ["a", 2], "data": [[4611686018427387923, NaN], [1.0, -Infinity]]}')
  expect(table).toEqual({
    columns: ["a", "2"],
    rows: [
      ["4611686018427387923", '"NaN"'],
      ["1.0", '"-Infinity"'],
    ],
  })
  expect(rowText(table ?? expect.unreachable(), table?.rows[0] ?? [])).toBe('{"a": 4611686018427387923, "2": "NaN"}')
})

test.each([[""], ["[]"], ["{}"], ['{"columns": ["a"]}'], ['{"columns": 1, "data": []}'], ["<html>"]])(
  "%j is no table",
  (value) => {
    expect(loggedTable(value)).toBeNull()
  },
)

test("a chat is shown as what it says, a text without quotes, and anything else as it is written", () => {
  expect(cellShown(text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]'))).toBe("hi · ho")
  expect(cellShown(text('"a \\"b\\""'))).toBe('a "b"')
  for (const same of ["[1, 2]", "[]", '[{"a": 1}]', '[{"content": 1}]', "1.50", "null", '{"content": "x"}']) {
    expect(cellShown(text(same))).toBe(same)
  }
  expect(cellShown(undefined)).toBe("")
  expect(cellShown(text(`"${"x".repeat(9_000)}"`)).length).toBe(500)
})

test("a number is read from numbers alone", () => {
  expect([text("1.5"), text("-2e3"), text('"3"'), text("null"), undefined].map(cellNumber)).toEqual([
    1.5,
    -2000,
    NaN,
    NaN,
    NaN,
  ])
})
