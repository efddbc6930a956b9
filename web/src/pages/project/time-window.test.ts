import { expect, test } from "vitest"
import { bucketStart, windowStart } from "./time-window.ts"

test("a window begins at the edge of a bucket, and stays there while the bucket lasts", () => {
  const at = (time: string) => windowStart("24h", Date.parse(time))
  expect(new Date(at("2026-11-22T14:35:10Z") * 1000).toISOString()).toBe("2026-11-21T14:40:00.000Z")
  expect(at("2026-11-22T14:20:00Z")).toBe(at("2026-11-22T14:39:59Z"))
  expect(at("2026-11-22T14:40:00Z") - at("2026-11-22T14:39:59Z")).toBe(1200)
})

test("the edge of a bucket", () => expect(bucketStart(3601, 3600)).toBe(3600))
