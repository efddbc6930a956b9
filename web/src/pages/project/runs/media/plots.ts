/**
 * Charts that a program made with `wandb.plot`: the client notes in the config which table each is of and how it is drawn
 * (platform-wandb 5.3). Those of the library are drawn; of any other the table is shown.
 */
import { isJsonObject } from "../../../../json/parsed-json.ts"
import { valueText } from "../../../../json/value-text.ts"
import { clientsOwn, readableJson } from "../run-values.ts"
import { histogramOver } from "./histograms.ts"
import type { LoggedHistogram } from "./logged-media.ts"
import { cellNumber, type LoggedTable } from "./logged-table.ts"

export interface PlotDefinition {
  name: string
  title: string
  /** Such as `wandb/line/v0`. */
  preset: string
  /** Columns of the table, by what they are to the preset. */
  fields: Readonly<Record<string, unknown>>
  /** The logged name of its table. */
  table: string
}

export interface PlotLine {
  name: string
  x: number[]
  y: number[]
}

export type Plot =
  | { kind: "lines"; lines: readonly PlotLine[] }
  | { kind: "points"; lines: readonly PlotLine[] }
  | { kind: "bars"; labels: readonly string[]; values: readonly number[] }
  | { kind: "histogram"; histogram: LoggedHistogram }
  | { kind: "matrix"; labels: readonly string[]; counts: readonly (readonly number[])[] }

/** By name. */
export function plotDefinitions(config: string): PlotDefinition[] {
  const own = clientsOwn(config)
  const made = Object.entries(objectOf(own.get("visualize"))).flatMap(([name, value]) => newDefinition(name, value))
  const older = Object.entries(objectOf(own.get("viz"))).flatMap(([name, value]) => olderDefinition(name, value))
  return [...made, ...older].toSorted((a, b) => a.name.localeCompare(b.name))
}

function objectOf(text: string | undefined): Record<string, unknown> {
  const value: unknown = text?.startsWith("{") === true ? JSON.parse(readableJson(text)) : null
  return isJsonObject(value) ? value : {}
}

function newDefinition(name: string, value: unknown): PlotDefinition[] {
  const settings = isJsonObject(value) ? value["panel_config"] : null
  if (!isJsonObject(settings)) return []
  const { panelDefId: preset, fieldSettings, stringSettings, userQuery } = settings
  const table = tableKeyIn(userQuery)
  if (typeof preset !== "string" || table === null) return []
  const title = isJsonObject(stringSettings) ? stringSettings["title"] : null
  const fields = isJsonObject(fieldSettings) ? fieldSettings : {}
  return [{ name, title: typeof title === "string" && title !== "" ? title : name, preset, fields, table }]
}

/** Of `wandb.visualize`, by which the client's plots of scikit-learn come: their columns have fixed names. */
function olderDefinition(name: string, value: unknown): PlotDefinition[] {
  if (!isJsonObject(value)) return []
  const { id: preset, historyFieldSettings } = value
  const table = isJsonObject(historyFieldSettings) ? historyFieldSettings["key"] : null
  if (typeof preset !== "string" || typeof table !== "string") return []
  return [{ name, title: name, preset, fields: {}, table }]
}

/** The argument `tableKey`, wherever it stands in the query. */
function tableKeyIn(query: unknown): string | null {
  if (typeof query !== "object" || query === null) return null
  if (isJsonObject(query) && query["name"] === "tableKey" && typeof query["value"] === "string") return query["value"]
  for (const part of Object.values(query)) {
    const found = tableKeyIn(part)
    if (found !== null) return found
  }
  return null
}

/** null: it cannot be drawn from this table. */
export function plotOf({ preset, fields }: PlotDefinition, table: LoggedTable): Plot | null {
  const column = (field: string, usual = field) => {
    const named = fields[field]
    return table.columns.indexOf(typeof named === "string" ? named : usual)
  }
  switch (preset.replace(/\/v\d+$/, "")) {
    case "wandb/line":
      return linesOf(table, { x: column("x"), y: column("y"), name: column("stroke") })
    case "wandb/lineseries":
      return linesOf(table, { x: column("step"), y: column("lineVal"), name: column("lineKey") })
    case "wandb/area-under-curve":
      return linesOf(table, { x: column("x"), y: column("y"), name: column("class") })
    case "wandb/scatter":
      return linesOf(table, { x: column("x"), y: column("y"), name: -1 }, "points")
    case "wandb/bar":
      return barsOf(table, column("label"), column("value"))
    case "wandb/feature_importances":
      return barsOf(table, column("feature_names"), column("importances"))
    case "wandb/histogram":
      return histogramOf(table, column("value"))
    case "wandb/confusion_matrix":
      return matrixOf(table, [column("Actual"), column("Predicted"), column("nPredictions", "Count")])
    default:
      return null
  }
}

interface LineColumns {
  x: number
  y: number
  /** -1: there is one line. */
  name: number
}

/** Points of a line by their places: only so a chart can find them. */
function linesOf({ rows }: LoggedTable, { x, y, name }: LineColumns, kind: "lines" | "points" = "lines"): Plot | null {
  if (x < 0 || y < 0) return null
  const points = rows.flatMap((row) => {
    const [at, value] = [cellNumber(row[x]), cellNumber(row[y])]
    return Number.isFinite(at) && Number.isFinite(value)
      ? [{ at, value, line: name < 0 ? "" : valueText(row[name]) }]
      : []
  })
  const lines = Array.from(
    Map.groupBy(points, ({ line }) => line),
    ([line, of]): PlotLine => {
      const sorted = of.toSorted((a, b) => a.at - b.at)
      return { name: line, x: sorted.map(({ at }) => at), y: sorted.map(({ value }) => value) }
    },
  )
  return lines.length === 0 ? null : { kind, lines }
}

function barsOf({ rows }: LoggedTable, label: number, value: number): Plot | null {
  if (label < 0 || value < 0) return null
  const bars = rows.filter((row) => Number.isFinite(cellNumber(row[value])))
  if (bars.length === 0) return null
  return {
    kind: "bars",
    labels: bars.map((row) => valueText(row[label])),
    values: bars.map((row) => cellNumber(row[value])),
  }
}

function histogramOf({ rows }: LoggedTable, value: number): Plot | null {
  const histogram = value < 0 ? null : histogramOver(rows.map((row) => cellNumber(row[value])))
  return histogram === null ? null : { kind: "histogram", histogram }
}

/** More classes make a table that nobody can read. */
const mostClasses = 60

function matrixOf({ rows }: LoggedTable, [actual = -1, predicted = -1, count = -1]: readonly number[]): Plot | null {
  if (actual < 0 || predicted < 0 || count < 0) return null
  const labels = [...new Set(rows.flatMap((row) => [valueText(row[actual]), valueText(row[predicted])]))]
  if (labels.length === 0 || labels.length > mostClasses) return null
  const found = new Map(
    rows.map((row) => [`${valueText(row[actual])}\n${valueText(row[predicted])}`, cellNumber(row[count])]),
  )
  return { kind: "matrix", labels, counts: labels.map((of) => labels.map((as) => found.get(`${of}\n${as}`) ?? 0)) }
}
