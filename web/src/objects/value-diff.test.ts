import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { diffValues } from "./value-diff.ts"

const shown = (before: string, after: string) =>
  diffValues(before as JsonText, after as JsonText).map(({ path, before: old, after: now }) => [path, old, now])

test.each([
  ['{"a":1}', '{"a":1}', []],
  ['{"a": 1}', '{"a":1}', []],
  ['{"a":1.0}', '{"a":1}', [["a", "1.0", "1"]]],
  [
    '{"a":{"b":[1,2]}}',
    '{"a":{"b":[1,3,4]}}',
    [
      ["a.b[1]", "2", "3"],
      ["a.b[2]", null, "4"],
    ],
  ],
  ['{"a":1,"x y":2}', '{"a":1}', [['["x y"]', "2", null]]],
  ['{"a":[1]}', '{"a":{"0":1}}', [["a", "[1]", '{"0":1}']]],
  ['"text"', "null", [["", '"text"', "null"]]],
])("%s to %s", (before, after, changes) => {
  expect(shown(before, after)).toEqual(changes)
})
