import { readFile } from "node:fs/promises"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { jobEvents, jobStates, jobTransitions, moveFor } from "./job-states.ts"
import { jobStatesPage } from "./job-states-page.ts"

const finals = ["succeeded", "failed", "cancelled"] as const
const isFinal = (state: string) => (finals as readonly string[]).includes(state)

describe("invariants of the job table", () => {
  test("1: a job in a final state never changes again", () => {
    for (const state of finals) expect(Object.values(jobTransitions[state])).toEqual(jobEvents.map(() => null))
  })

  test("2 (training-api 3.1 rule 2): moves into a final state write one terminal event, others none", () => {
    for (const state of jobStates) {
      for (const event of jobEvents) {
        const transition = jobTransitions[state][event]
        if (transition === null) continue
        const expected = {
          succeeded: "training_ended",
          failed: "training_failed",
          cancelled: "training_failed",
        } as const
        const terminal = isFinal(transition.to) ? expected[transition.to as (typeof finals)[number]] : null
        expect(transition.terminal).toBe(terminal)
      }
    }
  })

  test("3 (training-api 3.1 rule 6): from every open state a final one can be reached", () => {
    for (const state of ["queued", "running", "paused"] as const) {
      expect(
        Object.values(jobTransitions[state]).some((transition) => transition !== null && isFinal(transition.to)),
      ).toBe(true)
    }
  })

  test("4: only a claimed job can succeed", () => {
    expect(moveFor("finish")).toEqual({
      from: ["running"],
      to: "succeeded",
      terminal: "training_ended",
    })
  })

  test("an event moves every state that takes it to the same one, so that it is one conditional update", () => {
    for (const event of jobEvents) {
      const targets = jobStates.map((state) => jobTransitions[state][event]?.to).filter((to) => to !== undefined)
      expect(new Set(targets).size).toBe(1)
    }
  })
})

test("docs/reference/job-states.md is the table of the code (scripts/generate-pages.ts writes it)", async () => {
  const page = path.resolve(import.meta.dirname, "../../../docs/reference/job-states.md")
  expect(await readFile(page, "utf8")).toBe(jobStatesPage())
})
