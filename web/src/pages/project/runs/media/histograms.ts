/** Histograms: of values that a table holds, and as bars of a chart. */
import { extentOf } from "../../../../components/charts/extent.ts"
import type { LoggedHistogram } from "./logged-media.ts"

const bins = 30

/** In bins of equal width; null: there is no finite value. */
export function histogramOver(values: readonly number[]): LoggedHistogram | null {
  const finite = values.filter((value) => Number.isFinite(value))
  if (finite.length === 0) return null
  const [low, high] = extentOf(finite)
  const width = high > low ? (high - low) / bins : 1
  const counts = Array.from({ length: high > low ? bins : 1 }, () => 0)
  for (const value of finite) {
    const bin = Math.min(counts.length - 1, Math.floor((value - low) / width))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  return { bins: Array.from({ length: counts.length + 1 }, (_, place) => low + place * width), counts }
}

/** A bar stands over the middle of its bin. */
export function histogramBars({ bins: ends, counts }: LoggedHistogram): { x: number[]; y: number[] } {
  return {
    x: counts.map((_, place) => ((ends[place] ?? 0) + (ends[place + 1] ?? 0)) / 2),
    y: [...counts],
  }
}
