import { expect, test } from "vitest"
import { jobDuration, jobTitle } from "./job-words.ts"

test("a job is named by what it does to which model", () => {
  expect(jobTitle({ kind: "sft", model: "tone-judge" })).toBe("SFT job of tone-judge")
  expect(jobTitle({ kind: "dpo", model: "tone-judge" })).toBe("DPO job of tone-judge")
})

test("a job that runs takes longer and longer, one that ended does not, one that waits has not begun", () => {
  const started_at = "2026-01-01T00:00:00.000Z"
  const now = Date.parse("2026-01-01T00:01:00.000Z")
  expect(jobDuration({ started_at, ended_at: null }, now)).toBe(60_000)
  expect(jobDuration({ started_at, ended_at: "2026-01-01T00:00:02.000Z" }, now)).toBe(2000)
  expect(jobDuration({ started_at: null, ended_at: null }, now)).toBeNull()
})
