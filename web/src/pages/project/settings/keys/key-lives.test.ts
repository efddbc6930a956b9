import { expect, test } from "vitest"
import { endOfKey } from "./key-lives.ts"

const now = Date.parse("2026-11-23T12:00:00Z")

test("a number of days is counted from now", () => {
  expect(endOfKey("7 days", "", now)).toEqual(new Date("2026-11-30T12:00:00Z"))
  expect(endOfKey("a year", "", now)).toEqual(new Date("2027-11-23T12:00:00Z"))
})

test("a day is lived to its end, where the reader is", () => {
  expect(endOfKey("until a day", "2027-01-31", now)).toEqual(new Date(2027, 0, 31, 23, 59, 59))
  expect(endOfKey("until a day", "", now)).toBeNull()
})

test("without an end there is none, whatever day was typed before", () => {
  expect(endOfKey("no end", "2027-01-31", now)).toBeNull()
})
