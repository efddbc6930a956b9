/** The range of time of a list: back from now, or between two times. */
import { timeOf } from "../../../calls/filter/filter-fields.ts"

export const ranges = {
  "1h": { name: "Last hour", seconds: 3600 },
  "24h": { name: "Last 24 hours", seconds: 24 * 3600 },
  "7d": { name: "Last 7 days", seconds: 7 * 24 * 3600 },
  "30d": { name: "Last 30 days", seconds: 30 * 24 * 3600 },
} as const

export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

export interface TimeRange {
  /** Unix seconds. */
  from?: number | undefined
  to?: number | undefined
  name: string
}

/** Range of the texts in an address; `now` in milliseconds. Texts that are no time are left out. */
export function timeRangeOf(from: string, to: string, now: number): TimeRange {
  const named = Object.hasOwn(ranges, from) ? ranges[from as RangeName] : undefined
  if (named !== undefined) return { from: Math.floor(now / 60_000) * 60 - named.seconds, name: named.name }
  const [start, end] = [timeOf(from), timeOf(to)]
  const shown = (text: string) => text.replace("T", " ")
  const name =
    start === null
      ? end === null
        ? "All time"
        : `Until ${shown(to)}`
      : end === null
        ? `Since ${shown(from)}`
        : `${shown(from)} – ${shown(to)}`
  return { from: start ?? undefined, to: end ?? undefined, name }
}
