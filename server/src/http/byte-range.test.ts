/** Which bytes a `Range` asks for. */
import { expect, test } from "vitest"
import { byteRange } from "./byte-range.ts"

test.each([
  ["bytes=0-4", { start: 0, end: 4 }],
  ["bytes=5-", { start: 5, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=-99", { start: 0, end: 9 }],
  ["bytes=8-99999999999999999999", { start: 8, end: 9 }],
  ["bytes=10-12", null],
  ["bytes=4-3", null],
  ["bytes=-0", null],
  ["bytes=-", null],
  ["bytes=0-1,4-5", null],
  ["lines=0-1", null],
  [undefined, null],
])("%s of ten bytes", (header, range) => {
  expect(byteRange(header, 10)).toEqual(range)
})

test("an empty file has no part", () => {
  expect(byteRange("bytes=0-", 0)).toBeNull()
})
