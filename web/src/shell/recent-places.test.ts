import { afterEach, expect, test, vi } from "vitest"
import { recentProjects, rememberProject } from "./recent-places.ts"

afterEach(() => vi.unstubAllGlobals())

test("a browser without room remembers no project, and its pages go on", () => {
  const setItem = () => {
    throw new DOMException("full", "QuotaExceededError")
  }
  vi.stubGlobal("localStorage", { getItem: () => null, setItem })
  expect(() => rememberProject("acme/demo")).not.toThrow()
  expect(recentProjects()).toEqual([])
})
