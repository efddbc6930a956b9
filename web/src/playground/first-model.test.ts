import { expect, test } from "vitest"
import { firstModel, lastModel, rememberModel } from "./first-model.ts"

const trained = [
  { name: "untrained", latest_step: 0, latest_step_at: "2026-11-27T10:00:00Z" },
  { name: "emptied", latest_step: null, latest_step_at: null },
  { name: "older", latest_step: 40, latest_step_at: "2026-11-20T10:00:00Z" },
  { name: "newer", latest_step: 3, latest_step_at: "2026-11-26T10:00:00Z" },
]
const base = ["heddle/tiny"]
const names = [...trained.map(({ name }) => `${name}@latest`), ...base, "custom::box::gpt"]
const known = { names, trained, base }

test("the newest step that anything was learnt in, else a base model, else whatever there is", () => {
  expect(firstModel(known, null)).toBe("newer@latest")
  expect(firstModel({ ...known, trained: trained.slice(0, 2) }, null)).toBe("heddle/tiny")
  expect(firstModel({ names: ["custom::box::gpt"], trained: [], base: [] }, null)).toBe("custom::box::gpt")
  expect(firstModel({ names: [], trained: [], base: [] }, null)).toBe(null)
})

test.each(["older@latest", "older@40", "older@7", "untrained@0", "heddle/tiny", "custom::box::gpt"])(
  "%s, which was asked last, comes again",
  (last) => {
    expect(firstModel(known, last)).toBe(last)
  },
)

test("so does a model of another project, of which only the server knows whether it is there", () => {
  expect(firstModel(known, "wandb-artifact:///local/other/clerk:latest")).toBe(
    "wandb-artifact:///local/other/clerk:latest",
  )
})

test.each(["deleted@latest", "deleted@3", "emptied@latest", "newer@4", "heddle/other"])(
  "%s is not there any more",
  (last) => {
    expect(firstModel(known, last)).toBe("newer@latest")
  },
)

test("the last model is kept for each project, and a browser without room keeps none", () => {
  const kept = new Map<string, string>()
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
  rememberModel(store, "e/p", "older@7")
  rememberModel(store, "e/q", "heddle/tiny")
  expect([lastModel(store, "e/p"), lastModel(store, "e/q"), lastModel(store, "e/r")]).toEqual([
    "older@7",
    "heddle/tiny",
    null,
  ])
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError")
    },
  }
  expect(() => rememberModel(full, "e/p", "a")).not.toThrow()
})
