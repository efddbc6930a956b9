import { expect, test } from "vitest"
import { timeRangeOf } from "./time-range.ts"
import { sortOf, sortText } from "./traces-search.ts"

test.each([
  [undefined, { column: "time", direction: "desc" }],
  ["-duration", { column: "duration", direction: "desc" }],
  ["inputs.n", { column: "inputs.n", direction: "asc" }],
] as const)("%s is sorted by %j, and written so again", (text, sort) => {
  expect(sortOf(text)).toEqual(sort)
  expect(sortText(sort)).toBe(text)
})

test("ranges go back from a whole minute, or stand between two times", () => {
  const now = Date.parse("2026-11-22T14:31:58Z")
  expect(timeRangeOf("24h", "", now)).toEqual({
    from: Date.parse("2026-11-21T14:31:00Z") / 1000,
    name: "Last 24 hours",
  })
  const both = timeRangeOf("2026-11-20T10:00Z", "2026-11-20T11:00Z", now)
  expect([both.from, both.to]).toEqual([Date.parse("2026-11-20T10:00Z") / 1000, Date.parse("2026-11-20T11:00Z") / 1000])
  expect(timeRangeOf("soon", "", now)).toEqual({ name: "All time" })
})
