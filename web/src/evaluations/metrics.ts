/** Metrics of a run: its scores, and the cost of its answers. */
import { formatFineDuration } from "../format/durations.ts"
import { formatMoney } from "../format/money.ts"
import {
  formatChange,
  formatCount,
  formatNumber,
  formatPoints,
  formatScore,
  formatShare,
  thinSpace,
} from "../format/numbers.ts"

export interface Metric {
  id: string
  name: string
  /** `share`: of answers that are yes. */
  kind: "share" | "number" | "duration" | "tokens" | "money"
  /** Measured by the server instead of a scorer. */
  isMeasured: boolean
}

export type Direction = "up" | "down"

/** The scorer's name, and where in what it gave the value stands. */
export function metricOfScore(path: readonly string[], kind: "share" | "number"): Metric {
  const name = path.join(".")
  return { id: `score:${name}`, name, kind, isMeasured: false }
}

export const latency: Metric = { id: "latency", name: "latency", kind: "duration", isMeasured: true }
export const tokens: Metric = { id: "tokens", name: "tokens an answer", kind: "tokens", isMeasured: true }
/** One answer of a small model costs less than the decimals of money tell. */
export const price: Metric = { id: "cost", name: "cost of 1,000 answers", kind: "money", isMeasured: true }
export const pricedAnswers = 1000

/** Words in the name of a score of which less is better. */
const lowerWords =
  /(?:^|[^a-z])(?:latency|duration|cost|tokens?|errors?|loss|perplexity|distance|toxicity|toxic|hallucinations?|hallucinated|violations?|refusals?|refused|wer|cer|mae|mse|rmse|failures?|failed)(?:[^a-z]|$)/

/** Nothing that a scorer gives says which way is better: its name does, unless a person turned it. */
export function betterDirection(metric: Metric, turned: readonly string[]): Direction {
  const words = metric.name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()
  const isDown = metric.isMeasured || lowerWords.test(words)
  return isDown === turned.includes(metric.id) ? "up" : "down"
}

/** Scores by name, then what was measured. */
export function sortedMetrics(metrics: Iterable<Metric>): Metric[] {
  const measured = [latency.id, tokens.id, price.id]
  return [...metrics].toSorted(
    (a, b) => measured.indexOf(a.id) - measured.indexOf(b.id) || a.name.localeCompare(b.name, "en"),
  )
}

/** "76.3 %", "3.98", "4.02 s", "214", "$0.0041" */
export function formatValue({ kind }: Metric, value: number): string {
  switch (kind) {
    case "share":
      return formatShare(value)
    case "number":
      return formatPlain(value)
    case "duration":
      return formatFineDuration(value)
    case "tokens":
      return formatCount(Math.round(value))
    case "money":
      return formatMoney(value)
  }
}

/** Most scores are between 0 and 10; the number of decimals is constant there. */
function formatPlain(value: number): string {
  return isPlain(value) ? formatScore(value, decimals) : formatNumber(value)
}

const decimals = 3
const isPlain = (value: number) => value === 0 || (Math.abs(value) < 10 && Math.abs(value) >= 0.0005)

/** "+4.2 pts", "−0.11", "−290 ms" */
export function formatDifference(metric: Metric, value: number): string {
  if (metric.kind === "share") return formatPoints(value)
  return signed(metric, value)
}

/** "[−0.2, +8.5]", with units where those of both ends may differ. */
export function formatDifferenceInterval(metric: Metric, [low, high]: readonly [number, number]): string {
  const end = (value: number) => {
    if (metric.kind === "share") return formatChange(value * 100, 1)
    return metric.kind === "money" ? `${value > 0 ? "+" : ""}${formatNumber(value)}` : signed(metric, value)
  }
  return `[${end(low)}, ${end(high)}]`
}

/** "[71.2, 80.8]" */
export function formatValueInterval(metric: Metric, [low, high]: readonly [number, number]): string {
  const end = (value: number) => {
    if (metric.kind === "share") return formatScore(value * 100, 1)
    return metric.kind === "money" ? formatNumber(value) : formatValue(metric, value)
  }
  return `[${end(low)}, ${end(high)}]`
}

function signed(metric: Metric, value: number): string {
  if (metric.kind === "number" && isPlain(value)) return formatChange(value, decimals)
  const text = formatValue(metric, Math.abs(value))
  const sign = /[1-9]/.test(text) ? (value > 0 ? "+" : "\u2212") : "±"
  return `${sign}${text}`
}

/** The words beside a metric's name: "higher is better". */
export function directionWords(direction: Direction): string {
  return direction === "up" ? "higher is better" : "lower is better"
}

/** "n = 312" */
export function formatSize(count: number): string {
  return `n${thinSpace}=${thinSpace}${formatCount(count)}`
}
