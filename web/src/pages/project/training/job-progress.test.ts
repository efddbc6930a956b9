import { expect, test } from "vitest"
import { jobProgress } from "./job-progress.ts"

const job = {
  status: "running",
  started_at: "2026-11-22T14:00:00Z",
  gradient_steps: 15,
  expected_gradient_steps: 60,
} as const
const now = Date.parse("2026-11-22T14:01:00Z")

test("a quarter took a minute, so three minutes are left", () => {
  expect(jobProgress(job, now)).toEqual({ share: 0.25, leftMs: 180_000, detail: "15 of 60 gradient steps" })
})

test.each([
  [{ ...job, gradient_steps: 2 }, null],
  [{ ...job, gradient_steps: 60 }, null],
  [{ ...job, expected_gradient_steps: 0, gradient_steps: 0 }, null],
])("%j: no estimate", (one, leftMs) => expect(jobProgress(one, now).leftMs).toBe(leftMs))

test.each([
  [{ ...job, status: "queued" as const }, "waits in the queue"],
  [{ ...job, expected_gradient_steps: null }, "its data is read"],
])("%j: not known how much there is to do", (one, detail) => {
  expect(jobProgress(one, now)).toEqual({ share: null, leftMs: null, detail })
})
