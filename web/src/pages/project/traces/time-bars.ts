/** Hours as bars of a strip: as many as there is room for, each of them the same number of hours. */
import type { Hour } from "./use-facets.ts"

export const hourMs = 3_600_000
const mostBars = 120

export interface TimeBar {
  /** Milliseconds since 1970. */
  from: number
  to: number
  count: number
}

/** The earliest first, without gaps. */
export function timeBars(hours: readonly Hour[]): TimeBar[] {
  const [first, last] = [hours[0], hours.at(-1)]
  if (first === undefined || last === undefined) return []
  const span = (last.start - first.start) / hourMs + 1
  const width = widths.find((hoursOfBar) => span / hoursOfBar <= mostBars) ?? Math.ceil(span / mostBars)
  const barMs = width * hourMs
  const start = Math.floor(first.start / barMs) * barMs
  const count = Math.floor((last.start - start) / barMs) + 1
  const bars = Array.from({ length: count }, (_, index) => ({
    from: start + index * barMs,
    to: start + (index + 1) * barMs,
    count: 0,
  }))
  for (const hour of hours) {
    const bar = bars[Math.floor((hour.start - start) / barMs)]
    if (bar !== undefined) bar.count += hour.count
  }
  return bars
}

const widths = [1, 2, 3, 6, 12, 24, 48, 168]
