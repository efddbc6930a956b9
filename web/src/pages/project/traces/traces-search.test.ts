import { expect, test } from "vitest"
import { fieldOfTime, timeOfField, timeRangeOf } from "./time-range.ts"
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

test("times in an address are shown, and written from a field, in the reader's zone", () => {
  const now = Date.parse("2026-11-22T14:31:58Z")
  const local = (time: string) => new Date(time).toLocaleString("sv-SE")
  expect(timeRangeOf("2026-11-02T10:00:00Z", "2026-11-02T11:30:00Z", now).name).toContain(
    local("2026-11-02T11:30:00Z").slice(11, 16),
  )
  expect(fieldOfTime("2026-11-02T10:00:30Z")).toBe(local("2026-11-02T10:00:30Z").replace(" ", "T"))
  expect(timeOfField(fieldOfTime("2026-11-02T10:00:30Z"))).toBe("2026-11-02T10:00:30Z")
  expect(timeOfField("2026-11-02T10:00")).toMatch(/^2026-11-0[123]T\d\d:\d\d:00Z$/)
  expect([fieldOfTime("24h"), fieldOfTime(""), timeOfField("")]).toEqual(["", "", ""])
})
