/** Histograms of several steps on one scale: how the distribution of values moves. */
import { extentOf } from "../../../../components/charts/extent.ts"
import type { LoggedHistogram } from "./logged-media.ts"

export interface HistogramSteps {
  low: number
  high: number
  /** Of each step, from the lowest values on: what part of its values lies there, against the largest part of all. */
  shares: readonly (readonly number[])[]
}

/** In `rows` stretches of equal width; null: there is nothing to compare, or no value at all. */
export function histogramSteps(histograms: readonly LoggedHistogram[], rows: number): HistogramSteps | null {
  const [low, high] = extentOf(histograms.flatMap(({ bins }) => [...bins.slice(0, 1), ...bins.slice(-1)]))
  if (histograms.length < 2 || !Number.isFinite(low) || !Number.isFinite(high) || low >= high) return null
  const parts = histograms.map((histogram) => partsOf(histogram, { low, width: (high - low) / rows, rows }))
  const [, most] = extentOf(parts.flat())
  if (most === 0) return null
  return { low, high, shares: parts.map((part) => part.map((one) => one / most)) }
}

interface Scale {
  low: number
  width: number
  rows: number
}

/** The values of a bin are taken as spread evenly over it. */
function partsOf({ bins, counts }: LoggedHistogram, { low, width, rows }: Scale): number[] {
  const all = counts.reduce((sum, count) => sum + count, 0)
  const parts = Array.from({ length: rows }, () => 0)
  for (const [place, count] of counts.entries()) {
    const [from = 0, to = 0] = [bins[place], bins[place + 1]]
    if (count === 0) continue
    const first = Math.max(0, Math.min(rows - 1, Math.floor((from - low) / width)))
    const last = Math.max(first, Math.min(rows - 1, Math.ceil((to - low) / width) - 1))
    for (let row = first; row <= last; row += 1) {
      const [bottom, top] = [low + row * width, low + (row + 1) * width]
      const overlap = to > from ? Math.max(0, Math.min(to, top) - Math.max(from, bottom)) / (to - from) : 1
      parts[row] = (parts[row] ?? 0) + (count / all) * overlap
    }
  }
  return parts
}
