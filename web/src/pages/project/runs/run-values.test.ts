import { expect, test } from "vitest"
import { configText, lastStep, metricGroups, readableJson, summaryNumbers, summaryText } from "./run-values.ts"

test("a config is shown without its wrapping, with every digit", () => {
  const config = '{"lr": {"value": 1.0, "desc": null}, "big": {"value": 4611686018427387905}, "_wandb": {"value": {}}}'
  expect(configText(config)).toBe('{"lr": 1.0, "big": 4611686018427387905}')
  expect(configText("{}")).toBe("{}")
})

test("NaN and the infinities are texts, wherever they stand; texts that hold the words stay", () => {
  expect(readableJson('{"a": NaN, "b": [1, -Infinity], "c": {"d": "NaN, or: NaN"}}')).toBe(
    '{"a": "NaN", "b": [1, "-Infinity"], "c": {"d": "NaN, or: NaN"}}',
  )
})

test("a summary is shown without what the client adds", () => {
  const summary = '{"loss": 0.25, "_step": 41, "_wandb": {"runtime": 3}, "acc": NaN, "best": "x", "n": 12}'
  expect(summaryText(summary)).toBe('{"loss": 0.25, "acc": "NaN", "best": "x", "n": 12}')
  expect(summaryNumbers(summary)).toEqual([
    { name: "loss", value: 0.25 },
    { name: "n", value: 12 },
  ])
  expect([lastStep(summary), lastStep("{}")]).toEqual([41, null])
})

test("metrics are grouped by what stands before the first slash", () => {
  expect(metricGroups(["acc", "train/loss", "val/a/b", "loss", "train/acc"], "Metrics")).toEqual([
    { title: "Metrics", metrics: ["acc", "loss"] },
    { title: "train", metrics: ["train/loss", "train/acc"] },
    { title: "val", metrics: ["val/a/b"] },
  ])
})
