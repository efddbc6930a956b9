import { expect, test } from "vitest"
import type { JsonText } from "../../../../json/json-text.ts"
import { histogramOver } from "./histograms.ts"
import type { LoggedTable } from "./logged-table.ts"
import { plotDefinitions, plotOf } from "./plots.ts"

const panel = (preset: string, title: string, table: string, fields: object = {}) => ({
  panel_type: "Vega2",
  panel_config: {
    panelDefId: preset,
    fieldSettings: fields,
    stringSettings: { title },
    userQuery: { queryFields: [{ name: "runSets", fields: [{ args: [{ name: "tableKey", value: table }] }] }] },
  },
})
const configOf = (own: object) => JSON.stringify({ lr: { value: 1 }, _wandb: { value: own } })
const table = (columns: string[], ...rows: unknown[][]): LoggedTable => ({
  columns,
  rows: rows.map((row) => row.map((value) => JSON.stringify(value) as JsonText)),
})
const plot = (preset: string, fields: Record<string, unknown>, of: LoggedTable) =>
  plotOf({ name: "a", title: "a", table: "t", preset, fields }, of)

test("platform-wandb 5.3: charts are found in the config, those of scikit-learn among them", () => {
  const config = configOf({
    visualize: {
      roc: panel("wandb/area-under-curve/v0", "ROC", "roc_table", { x: "fpr" }),
      bare: panel("wandb/bar/v0", "", "bare_table"),
      broken: { panel_config: { panelDefId: "wandb/bar/v0" } },
      none: null,
    },
    viz: {
      taken: { id: "wandb/confusion_matrix/v1", historyFieldSettings: { key: "taken", "x-axis": "_step" } },
      nothing: { id: "wandb/metrics/v1" },
    },
  })
  expect(plotDefinitions(config)).toEqual([
    { name: "bare", title: "bare", preset: "wandb/bar/v0", fields: {}, table: "bare_table" },
    { name: "roc", title: "ROC", preset: "wandb/area-under-curve/v0", fields: { x: "fpr" }, table: "roc_table" },
    { name: "taken", title: "taken", preset: "wandb/confusion_matrix/v1", fields: {}, table: "taken" },
  ])
  expect([configOf({}), configOf({ visualize: 3 }), "{}"].map(plotDefinitions)).toEqual([[], [], []])
})

test("lines go by their places, one for each name, and keep points that stand above each other", () => {
  const of = table(
    ["fpr", "tpr", "class"],
    [1, 1, "cat"],
    [0, 0, "cat"],
    [0, 0.8, "cat"],
    [0, 0, "dog"],
    ["x", 1, "dog"],
  )
  expect(plot("wandb/area-under-curve/v0", { x: "fpr", y: "tpr", class: "class" }, of)).toEqual({
    kind: "lines",
    lines: [
      { name: "cat", x: [0, 0, 1], y: [0, 0.8, 1] },
      { name: "dog", x: [0], y: [0] },
    ],
  })
  expect(plot("wandb/line/v0", { x: "fpr", y: "tpr", stroke: null }, of)).toMatchObject({ lines: [{ name: "" }] })
  expect(plot("wandb/scatter/v0", { x: "fpr", y: "tpr" }, of)).toMatchObject({ kind: "points" })
  const series = table(["step", "lineKey", "lineVal"], [0, "up", 1], [1, "up", 2])
  expect(plot("wandb/lineseries/v0", { step: "step", lineKey: "lineKey", lineVal: "lineVal" }, series)).toEqual({
    kind: "lines",
    lines: [{ name: "up", x: [0, 1], y: [1, 2] }],
  })
})

test("bars, histograms and matrices are read from their columns", () => {
  expect(plot("wandb/bar/v0", { label: "n", value: "v" }, table(["n", "v"], ["a", 2], ["b", null]))).toEqual({
    kind: "bars",
    labels: ["a"],
    values: [2],
  })
  const values = table(["v"], ...Array.from({ length: 60 }, (_, place) => [place]))
  expect(plot("wandb/histogram/v0", { value: "v" }, values)).toMatchObject({
    histogram: { counts: Array.from({ length: 30 }, () => 2) },
  })
  const taken = table(["Actual", "Predicted", "Count"], ["cat", "cat", 3], ["dog", "cat", 1])
  expect(plot("wandb/confusion_matrix/v1", {}, taken)).toEqual({
    kind: "matrix",
    labels: ["cat", "dog"],
    counts: [
      [3, 0],
      [1, 0],
    ],
  })
})

test.each([
  ["acme/own/v3", table(["x", "y"], [1, 2])],
  ["wandb/line/v0", table(["other"], [1])],
  ["wandb/line/v0", table(["x", "y"])],
  ["wandb/bar/v0", table(["label", "value"], ["a", "b"])],
  ["wandb/histogram/v0", table(["value"], ["a"])],
  ["wandb/confusion_matrix/v1", table(["Actual", "Predicted"], ["a", "b"])],
  [
    "wandb/confusion_matrix/v1",
    table(["Actual", "Predicted", "Count"], ...Array.from({ length: 61 }, (_, n) => [n, n, 1])),
  ],
])("%s cannot be drawn from every table", (preset, of) => {
  expect(plot(preset, {}, of)).toBeNull()
})

test("a histogram has bins of equal width, and one for values that are all the same", () => {
  const { bins, counts } = histogramOver([0, 3, NaN, 3, 1.5]) ?? expect.unreachable()
  expect([bins.length, bins[0], bins.at(-1)]).toEqual([31, 0, 3])
  expect([counts[0], counts[15], counts[29]]).toEqual([1, 1, 2])
  expect(histogramOver([2, 2])).toEqual({ bins: [2, 3], counts: [2] })
  expect(histogramOver([NaN])).toBeNull()
})
