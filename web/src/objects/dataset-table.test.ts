import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { tableOfDataset } from "./dataset-table.ts"

test.each([
  ['{"_type":"Dataset","rows":"weave:///e/p/table/abc"}', "abc"],
  ['{"rows":"weave:///e/other/table/abc"}', null],
  ['{"rows":"weave:///e/p/object/abc:v1"}', null],
  ['{"rows":[{"a":1}]}', null],
  ['{"name":"x"}', null],
  ['"rows"', null],
])("%s", (val, digest) => {
  expect(tableOfDataset(val as JsonText, "e/p")).toBe(digest)
})
