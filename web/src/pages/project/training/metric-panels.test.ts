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

test("mean and percentiles of the importance ratio share a chart", () => {
  const ratio = ["loss/importance_ratio_mean", "loss/importance_ratio_p95", "loss/importance_ratio_p99"]
  const [panel, ...others] = metricPanels(ratio)
  expect(panel).toMatchObject({ id: "ratio", title: "Importance ratio", metrics: ratio.toReversed() })
  expect(others).toEqual([])
})

test("without metrics there is no chart", () => {
  expect(metricPanels([])).toEqual([])
})
