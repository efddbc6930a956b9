import { expect, test } from "vitest"
import { columnOfSort, isSortable, runSelection, sortOfColumn } from "./run-selection.ts"

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

test("a state is one or several of the server's", () => {
  const statesOf = (state: "running" | "crashed" | "unsuccessful") => runSelection({ state }).filters
  expect(statesOf("crashed")).toEqual({ $and: [{ state: { $in: ["crashed"] } }] })
  expect(statesOf("running")).toEqual({ $and: [{ state: { $in: ["pending", "running", "preempting"] } }] })
  expect(statesOf("unsuccessful")).toEqual({ $and: [{ state: { $in: ["failed", "crashed", "killed"] } }] })
})

test("a metric stands in the address without more, unless it would be read as something else", () => {
  expect(runSelection({ sort: "config.optimizer.lr" }).order).toBe("-config.optimizer.lr")
  expect(runSelection({ sort: "summary.created", up: true }).order).toBe("+summary_metrics.created")
  const columns = [
    "created",
    "config.lr",
    "summary.val/loss",
    "summary.created",
    "summary.config.lr",
    "summary.summary.x",
  ]
  expect(columns.map(sortOfColumn)).toEqual([
    "created",
    "config.lr",
    "val/loss",
    "summary.created",
    "summary.config.lr",
    "summary.summary.x",
  ])
  expect(columns.map(sortOfColumn).map(columnOfSort)).toEqual(columns)
})
