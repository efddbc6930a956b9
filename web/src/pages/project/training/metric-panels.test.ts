import { expect, test } from "vitest"
import { metricPanels, smallPanels } from "./metric-panels.ts"

test("rewards share a chart, a metric that nobody knows has one of its own, and none is lost", () => {
  const panels = metricPanels(["train/apples", "grad_norm", "train/reward", "data/rows", "val/reward"])
  expect(panels.map(({ id, title, metrics }) => [id, title, metrics])).toEqual([
    ["reward", "Reward", ["val/reward", "train/reward"]],
    ["grad_norm", "Gradient norm", ["grad_norm"]],
    ["data/rows", "Rows of the file", ["data/rows"]],
    ["train/apples", "train/apples", ["train/apples"]],
  ])
  const [reward] = panels
  expect(reward && smallPanels(panels, reward).map(({ id }) => id)).toEqual(["grad_norm"])
})

test("without metrics there is no chart", () => {
  expect(metricPanels([])).toEqual([])
})
