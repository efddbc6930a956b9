import { expect, test } from "vitest"
import { jobProgress } from "./job-progress.ts"

const job = {
  status: "running",
  gradient_steps: 15,
  expected_gradient_steps: 60,
  estimated_seconds_left: 180.5,
} as const

test("what the server measured is what is left", () => {
  expect(jobProgress(job)).toEqual({ share: 0.25, leftMs: 180_500, detail: "15 of 60 gradient steps" })
})

test.each([
  [{ ...job, estimated_seconds_left: null }, "15 of 60 gradient steps"],
  [{ ...job, gradient_steps: 60, estimated_seconds_left: 0 }, "60 of 60 gradient steps"],
  [{ ...job, status: "paused" as const, estimated_seconds_left: null }, "paused at 15 of 60 gradient steps"],
])("%j: no estimate", (one, detail) => expect(jobProgress(one)).toMatchObject({ leftMs: null, detail }))

test.each([
  [{ ...job, status: "queued" as const }, "waits in the queue"],
  [{ ...job, status: "paused" as const, expected_gradient_steps: null }, "paused"],
  [{ ...job, expected_gradient_steps: null }, "its data is read"],
])("%j: not known how much there is to do", (one, detail) => {
  expect(jobProgress(one)).toEqual({ share: null, leftMs: null, detail })
})
