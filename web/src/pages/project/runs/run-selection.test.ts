import { expect, test } from "vitest"
import { isSortable, runSelection } from "./run-selection.ts"

test("without a filter all runs, the newest first", () => {
  expect(runSelection({})).toEqual({ order: undefined, filters: undefined })
  expect(runSelection({ q: "", tag: "" }).filters).toBeUndefined()
})

test("a part of a name is no pattern, and every value is a condition", () => {
  expect(runSelection({ q: "a.b (1)", tag: "wide", group: "g", type: "train" }).filters).toEqual({
    $and: [
      { display_name: { $regex: String.raw`(?i)a\.b \(1\)` } },
      { tags: "wide" },
      { group: "g" },
      { jobType: "train" },
    ],
  })
})

test("by when they were made, or by a value of their summary", () => {
  expect(runSelection({ sort: "created", up: true }).order).toBe("+created_at")
  expect(runSelection({ sort: "val/loss" }).order).toBe("-summary_metrics.val/loss")
  expect(["loss", "a.b", "a..b", "a."].map(isSortable)).toEqual([true, true, false, false])
})
