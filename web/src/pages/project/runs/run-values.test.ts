import { expect, test } from "vitest"
import {
  comparedValues,
  configText,
  lastStep,
  metricDefinitions,
  metricGroups,
  readableJson,
  summaryNumbers,
  summaryText,
  valuesByPath,
} from "./run-values.ts"

test("a config is shown by name, without its wrapping, with every digit", () => {
  const config = '{"lr": {"value": 1.0, "desc": null}, "big": {"value": 4611686018427387905}, "_wandb": {"value": {}}}'
  expect(configText(config)).toBe('{"big": 4611686018427387905, "lr": 1.0}')
  expect(configText("{}")).toBe("{}")
})

test("NaN and the infinities are texts, wherever they stand; texts that hold the words stay", () => {
  expect(readableJson('{"a": NaN, "b": [1, -Infinity], "c": {"d": "NaN, or: NaN"}}')).toBe(
    '{"a": "NaN", "b": [1, "-Infinity"], "c": {"d": "NaN, or: NaN"}}',
  )
})

test("a summary is shown by name, without what the client adds", () => {
  const summary =
    '{"loss": 0.25, "_step": 41, "_wandb": {"runtime": 3}, "acc": NaN, "best": "x", "n": 12, "val": {"min": -1}}'
  expect(summaryText(summary)).toBe('{"acc": "NaN", "best": "x", "loss": 0.25, "n": 12, "val": {"min": -1}}')
  expect(summaryNumbers(summary)).toEqual([
    { name: "loss", value: 0.25 },
    { name: "n", value: 12 },
    { name: "val.min", value: -1 },
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

test("the metric that a metric stands over is the one that the program defined, by name or by pattern", () => {
  const config = JSON.stringify({
    _wandb: {
      value: {
        m: [
          { 1: "epoch", 6: [3, 2] },
          { 1: "val/loss", 5: 1, 6: [1, 3] },
          { 2: "train/*", 5: 5 },
          { 1: "train/own", 4: "epoch" },
          { 1: "batch" },
          { 1: "alone", 6: [3] },
        ],
      },
    },
  })
  const { axisOf, isHidden } = metricDefinitions(config)
  expect(["epoch", "val/loss", "train/loss", "other"].map(isHidden)).toEqual([true, false, false, false])
  expect(["val/loss", "train/loss", "train/own", "alone", "epoch", "other"].map(axisOf)).toEqual([
    "epoch",
    "batch",
    "epoch",
    undefined,
    undefined,
    undefined,
  ])
  expect(
    ["{}", '{"_wandb": {"value": {"m": 3}}}', '{"_wandb": 1}'].map((text) => metricDefinitions(text).axisOf("loss")),
  ).toEqual([undefined, undefined, undefined])
})

test("values are compared by their paths; a number is the same however it is written, past 2^53 by its digits", () => {
  const sides = [
    '{"lr": 1.0, "seed": 9007199254740993, "opt": {"name": "adam", "betas": [0.9, 0.95]}, "only": true}',
    '{"lr": 1, "seed": 9007199254740992, "opt": {"name": "sgd", "betas": [0.9, 0.95]}, "img": {"_type": "image-file"}}',
  ].map((text) => valuesByPath(text))
  expect(comparedValues(sides)).toEqual([
    { name: "lr", values: ["1.0", "1"], isSame: true },
    { name: "only", values: ["true", undefined], isSame: false },
    { name: "opt.betas", values: ["[0.9, 0.95]", "[0.9, 0.95]"], isSame: true },
    { name: "opt.name", values: ['"adam"', '"sgd"'], isSame: false },
    { name: "seed", values: ["9007199254740993", "9007199254740992"], isSame: false },
  ])
  expect(comparedValues([])).toEqual([])
})
