/** Counts of times as bars of a strip: as many as there is room for, each of them the same stretch of time. */
import type { TimeCounts } from "./use-time-counts.ts"

const mostBars = 120

export interface TimeBar {
  /** Milliseconds since 1970. */
  from: number
  to: number
  count: number
}

/** The earliest first, without gaps. */
export function timeBars({ unitMs, counts }: TimeCounts): TimeBar[] {
  const [first, last] = [counts[0], counts.at(-1)]
  if (first === undefined || last === undefined) return []
  const span = last.start - first.start + unitMs
  const barMs =
    widths.find((width) => width >= unitMs && span / width <= mostBars) ?? Math.ceil(span / mostBars / day) * day
  const start = Math.floor(first.start / barMs) * barMs
  const length = Math.floor((last.start - start) / barMs) + 1
  const bars = Array.from({ length }, (_, index) => ({
    from: start + index * barMs,
    to: start + (index + 1) * barMs,
    count: 0,
  }))
  for (const time of counts) {
    const bar = bars[Math.floor((time.start - start) / barMs)]
    if (bar !== undefined) bar.count += time.count
  }
  return bars
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const widths = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 168].map((hours) => hours * hour),
]
