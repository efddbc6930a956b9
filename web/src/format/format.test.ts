import { expect, test } from "vitest"
import { formatDuration, formatDurationTick, formatEstimate, formatFineDuration } from "./durations.ts"
import { shortId } from "./ids.ts"
import { formatMoney } from "./money.ts"
import {
  formatAtLeast,
  formatCell,
  formatChange,
  formatCount,
  formatCountTick,
  formatExact,
  formatInterval,
  formatNumber,
  formatP,
  formatPoints,
  formatScore,
  formatChosenShare,
  formatShare,
} from "./numbers.ts"
import { formatBytes } from "./sizes.ts"
import { formatAgo, formatClock, formatMoment, formatTick, formatTime, formatWholeTime } from "./times.ts"

/** Written with a plain space, which is easier to read here. */
const plain = (text: string) => text.replaceAll("\u202f", " ")

test.each([
  [0, "0"],
  [8630, "8,630"],
  [9999, "9,999"],
  [10_000, "10.0 k"],
  [58_234, "58.2 k"],
  [431_902, "432 k"],
  [999_499, "999 k"],
  [999_950, "1.00 M"],
  [2_810_000, "2.81 M"],
  [2_610_000_000, "2.61 G"],
  [-12_345, "−12.3 k"],
])("a count of %d is %s", (count, text) => expect(plain(formatCount(count, "en-GB"))).toBe(text))

test("a tick of an axis is round", () => {
  const ticks = [0, 500, 5000, 25_000, 2_500_000].map((count) => plain(formatCountTick(count, "en-GB")))
  expect(ticks).toEqual(["0", "500", "5 k", "25 k", "2.5 M"])
})

test("a partial count says so, and hover shows every digit", () => {
  expect(plain(formatAtLeast(212, false, "en-GB"))).toBe("≥ 212")
  expect(plain(formatAtLeast(212, true, "en-GB"))).toBe("212")
  expect(formatExact(2_812_345, "en-GB")).toBe("2,812,345")
  expect(formatExact(2_812_345, "de-DE")).toBe("2.812.345")
})

test.each([
  [formatScore(0.742, 3, "en-GB"), "0.742"],
  [formatScore(-0.004, 2, "en-GB"), "0.00"],
  [formatCell(0.84, 2, "en-GB"), ".84"],
  [formatCell(-0.5, 1, "en-GB"), "−.5"],
  [formatCell(1, 2, "en-GB"), "1.00"],
  [formatChange(0.06, 2, "en-GB"), "+0.06"],
  [formatChange(-0.114, 2, "en-GB"), "−0.11"],
  [formatChange(0.001, 2, "en-GB"), "±0.00"],
  [formatInterval(-0.19, 0.03, 2, "en-GB"), "[−0.19, +0.03]"],
  [formatShare(0.907, "en-GB"), "90.7 %"],
  [formatShare(0, "en-GB"), "0.0 %"],
  [formatShare(0.0004, "en-GB"), "< 0.1 %"],
  [formatShare(0.0005, "en-GB"), "0.1 %"],
  [formatShare(0.9996, "en-GB"), "> 99.9 %"],
  [formatShare(1, "en-GB"), "100.0 %"],
  [formatChosenShare(0.07, "en-GB"), "7 %"],
  [formatChosenShare(0.125, "en-GB"), "12.5 %"],
  [formatPoints(0.093, "en-GB"), "+9.3 pts"],
  [formatP(0.085, "en-GB"), "0.085"],
  [formatP(0.0004, "en-GB"), "< 0.001"],
  [formatNumber(8.9e-7, "en-GB"), "8.9e−7"],
  [formatNumber(-1.25e9, "en-GB"), "−1.3e9"],
  [formatNumber(0, "en-GB"), "0"],
  [formatNumber(0.04217, "en-GB"), "0.0422"],
  [formatScore(0.742, 2, "de-DE"), "0,74"],
])("%j", (shown, text) => expect(plain(shown)).toBe(text))

test.each([
  [0, "0 ms"],
  [0.4, "< 1 ms"],
  [568, "568 ms"],
  [999.6, "1.00 s"],
  [4021, "4.02 s"],
  [28_340, "28.3 s"],
  [59_960, "1 m 00 s"],
  [171_000, "2 m 51 s"],
  [3_599_700, "1 h 00 min"],
  [27_660_000, "7 h 41 min"],
  [187_200_000, "2 d 04 h"],
])("%d ms is %s", (milliseconds, text) => expect(plain(formatDuration(milliseconds, "en-GB"))).toBe(text))

test.each([
  [0.2143, "0.21 ms"],
  [0.000_91, "0.00091 ms"],
  [1, "1 ms"],
  [571.4, "571 ms"],
  [0, "0 ms"],
])("where durations are compared, %d ms is %s", (milliseconds, text) =>
  expect(plain(formatFineDuration(milliseconds, "en-GB"))).toBe(text),
)

test("an estimate is rounded up", () => expect(plain(formatEstimate(60_200, "en-GB"))).toBe("about 1 m 01 s"))

test.each([
  [0, "0 B"],
  [66_000_000, "66 MB"],
  [184e9, "184 GB"],
  [12_412, "12.4 KB"],
  [999_999, "1 MB"],
])("%d bytes are %s", (bytes, text) => expect(plain(formatBytes(bytes, "en-GB"))).toBe(text))

test.each([
  [null, "no price"],
  [0, "$0"],
  [0.00413, "$0.00413"],
  [0.5, "$0.5000"],
  [94.1, "$94.10"],
])("a cost of %d is %s", (amount, text) => expect(formatMoney(amount, "USD", "en-US")).toBe(text))

const place = { now: new Date("2026-11-22T15:00:00Z"), locale: "en-GB", timeZone: "UTC" }

test.each([
  ["2026-11-22T14:31:58Z", "14:31:58"],
  ["2026-11-18T17:40:00Z", "Wed 17:40"],
  ["2026-11-03T17:40:00Z", "3 Nov"],
  ["2025-11-03T17:40:00Z", "3 Nov 2025"],
  ["2026-11-23T09:00:00Z", "23 Nov"],
])("%s is %s", (time, text) => expect(formatTime(new Date(time), place)).toBe(text))

test.each([
  ["2026-11-22T14:31:58Z", "14:31:58"],
  ["2026-11-18T17:40:00Z", "Wed 17:40"],
  ["2026-11-03T17:40:00Z", "3 Nov 17:40"],
  ["2026-11-23T09:00:00Z", "23 Nov 09:00"],
  ["2026-02-03T17:40:00Z", "3 Feb 17:40"],
  ["2025-12-28T17:40:00Z", "28 Dec 17:40"],
])("in a row, %s is %s", (time, text) => expect(formatMoment(new Date(time), place)).toBe(text))

test("in a row of figures, the day does not take the place of the time of day", () => {
  expect(formatMoment(new Date("2026-11-22T14:31:58.417Z"), place, true)).toBe("14:31:58.417")
  expect(formatMoment(new Date("2026-11-18T14:31:58.417Z"), place, true)).toBe("Wed 14:31:58.417")
  expect(formatMoment(new Date("2025-11-18T14:31:58.417Z"), place, true)).toBe("18 Nov 2025 14:31:58.417")
})

test("whether it is today is decided where the reader is", () => {
  const late = new Date("2026-11-21T23:30:00Z")
  expect(formatTime(late, place)).toBe("Sat 23:30")
  expect(formatTime(late, { ...place, timeZone: "Europe/Berlin" })).toBe("00:30:00")
})

test.each([
  [3600_000, "14:31"],
  [1000, "14:31:58"],
  [86_400_000, "22 Nov"],
])("a mark at an axis with %d ms between is %s", (step, text) => {
  expect(formatTick(new Date("2026-11-22T14:31:58Z"), step, place)).toBe(text)
})

test("a mark at midnight is the day that begins there, where the reader is", () => {
  const midnight = new Date("2026-11-22T00:00:00Z")
  expect(formatTick(midnight, 43_200_000, place)).toBe("22 Nov")
  expect(formatTick(midnight, 43_200_000, { ...place, timeZone: "Europe/Berlin" })).toBe("01:00")
  expect(formatTick(new Date("2026-11-22T12:00:00Z"), 43_200_000, { ...place, locale: "ar-EG" })).toBe("١٢:٠٠")
})

test.each([
  [0, "0"],
  [400, "400 ms"],
  [4000, "4 s"],
  [2500, "2.5 s"],
  [120_000, "2 m 00 s"],
])("%d ms at an axis is %s", (milliseconds, text) =>
  expect(plain(formatDurationTick(milliseconds, "en-GB"))).toBe(text),
)

test("clock, whole time, and how long ago", () => {
  const time = new Date("2026-11-22T14:31:58.417Z")
  expect(formatClock(time, place, true)).toBe("14:31:58.417")
  expect(formatWholeTime(time, place)).toBe("Sun, 22 Nov 2026, 14:31:58 UTC")
  expect(formatAgo(time, { ...place, locale: "en-US" })).toBe("28 min. ago")
  expect(formatAgo(new Date("2026-11-24T15:00:00Z"), { ...place, locale: "en-US" })).toBe("in 2 days")
  expect(formatAgo(new Date("2026-11-22T14:59:59.800Z"), { ...place, locale: "en-US" })).toBe("now")
})

test("an id is cut in its middle, unless it is short", () => {
  expect(shortId("019aa2f1-7c3e-7000-8000-00000000c04e")).toBe("019aa2f1…c04e")
  expect(shortId("agent-001")).toBe("agent-001")
})
