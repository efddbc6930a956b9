/** The range of time of a list: back from now, or between two times. */
import { timeOf } from "../../../calls/filter/filter-fields.ts"
import { formatMoment } from "../../../format/times.ts"

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
  /** In the reader's zone, as the rows have their times. */
  name: string
}

/** Range of the texts in an address; `now` in milliseconds. Texts that are no time are left out. */
export function timeRangeOf(from: string, to: string, now: number): TimeRange {
  const named = Object.hasOwn(ranges, from) ? ranges[from as RangeName] : undefined
  if (named !== undefined) return { from: Math.floor(now / 60_000) * 60 - named.seconds, name: named.name }
  const [start, end] = [timeOf(from), timeOf(to)]
  const shown = (seconds: number) => formatMoment(new Date(seconds * 1000), { now: new Date(now) })
  const name =
    start === null
      ? end === null
        ? "All time"
        : `Until ${shown(end)}`
      : end === null
        ? `Since ${shown(start)}`
        : `${shown(start)} – ${shown(end)}`
  return { from: start ?? undefined, to: end ?? undefined, name }
}

/** A time of an address as a browser's field takes it, in the reader's zone; empty: it is no time. */
export function fieldOfTime(text: string): string {
  const seconds = timeOf(text)
  // Sweden writes dates as the field does.
  return seconds === null ? "" : new Date(seconds * 1000).toLocaleString("sv-SE").replace(" ", "T")
}

/** What a browser's field says, with its zone: the address is opened elsewhere, too. Empty: it says nothing. */
export function timeOfField(text: string): string {
  const time = Date.parse(text)
  return Number.isNaN(time) ? "" : new Date(time).toISOString().replace(".000Z", "Z")
}
