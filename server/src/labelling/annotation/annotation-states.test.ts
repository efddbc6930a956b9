import { readFile } from "node:fs/promises"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { annotationStatesPage } from "./annotation-states-page.ts"
import { annotationEvents, annotationStates, annotationTransitions, eventFor } from "./annotation-states.ts"

describe("the state table of an annotator's work", () => {
  test("objects 2.5: what each state asked for does to each own record", () => {
    const asked = (state: string) => {
      const event = eventFor(state)
      return annotationStates.map((from) => (event === null ? null : annotationTransitions[from][event]))
    }
    expect(annotationStates).toEqual(["unstarted", "in_progress", "completed", "skipped"])
    expect(asked("in_progress")).toEqual(["in_progress", "same", "refused", "refused"])
    expect(asked("completed")).toEqual(["completed", "completed", "same", "refused"])
    expect(asked("skipped")).toEqual(["skipped", "skipped", "refused", "same"])
  })

  test("only three states can be asked for", () => {
    for (const state of ["unstarted", "", "done", "start", "undo", "toString", "__proto__"]) {
      expect(eventFor(state)).toBeNull()
    }
  })

  test("invariant 1: from every state a finished one can be reached", () => {
    for (const state of annotationStates) expect([...reachable(state)]).toContain("completed")
  })

  test("invariant 2: a finished state is left by undo alone, and then for in_progress", () => {
    for (const state of ["completed", "skipped"] as const) {
      const leaving = annotationEvents.filter(
        (event) => !["same", "refused"].includes(annotationTransitions[state][event]),
      )
      expect(leaving).toEqual(["undo"])
      expect(annotationTransitions[state].undo).toBe("in_progress")
    }
  })

  test("invariant 3: an event may be sent again", () => {
    for (const state of annotationStates) {
      for (const event of annotationEvents) {
        const to = annotationTransitions[state][event]
        if (to !== "same" && to !== "refused") expect(annotationTransitions[to][event]).toBe("same")
      }
    }
  })

  test("invariant 4: nothing leads back to unstarted", () => {
    const targets: string[] = annotationStates.flatMap((state) => Object.values(annotationTransitions[state]))
    expect(targets).not.toContain("unstarted")
  })
})

test("docs/reference/annotation-states.md is the table of the code (scripts/generate-pages.ts writes it)", async () => {
  const page = path.resolve(import.meta.dirname, "../../../../docs/reference/annotation-states.md")
  expect(await readFile(page, "utf8")).toBe(annotationStatesPage())
})

function reachable(from: (typeof annotationStates)[number]): Set<string> {
  const seen = new Set<string>([from])
  for (const state of seen) {
    for (const to of Object.values(annotationTransitions[state as typeof from])) {
      if (to !== "same" && to !== "refused") seen.add(to)
    }
  }
  return seen
}
