import { expect, test } from "vitest"
import { bucketStart, usageRange, windowStart } from "./time-window.ts"

test("a window begins at the edge of a bucket, and stays there while the bucket lasts", () => {
  const at = (time: string) => windowStart("24h", Date.parse(time))
  expect(new Date(at("2026-11-22T14:35:10Z") * 1000).toISOString()).toBe("2026-11-21T14:40:00.000Z")
  expect(at("2026-11-22T14:20:00Z")).toBe(at("2026-11-22T14:39:59Z"))
  expect(at("2026-11-22T14:40:00Z") - at("2026-11-22T14:39:59Z")).toBe(1200)
})

test("the edge of a bucket", () => expect(bucketStart(3601, 3600)).toBe(3600))

test.each([
  ["24h", 3600, 168],
  ["7d", 3600, 168],
  ["30d", 24 * 3600, 31],
] as const)("the ledger of %s ends with the bucket of now, in one page of the API", (name, width, most) => {
  for (let minute = 0; minute < 2 * 24 * 60; minute += 7) {
    const now = Date.parse("2026-11-22T00:00:59Z") + minute * 60_000
    const { start_time: start, limit } = usageRange(name, now)
    expect(limit).toBeLessThanOrEqual(most)
    expect(start + limit * width).toBeGreaterThan(now / 1000)
  }
})
