/** When calls began: counted by the hour, and by the minute or the second where they lie close together. */
import { type CallFacets, type CallFacetsQuery, useCallFacets } from "../../../api/calls/call-facets.ts"

export const started = "started_at"
export const mostTimes = 1000
/** Of a smaller unit there are at most sixty times as many. */
const mostCoarser = 12

export interface TimeCounts {
  /** Of one unit, in milliseconds. */
  unitMs: number
  /** The earliest first; units without a call are left out. */
  counts: readonly TimeCount[]
}

export interface TimeCount {
  /** Milliseconds since 1970. */
  start: number
  count: number
}

/** What is counted between two times, in milliseconds since 1970. */
type CountingWithin = (from: number, to: number) => Omit<CallFacetsQuery, "facets" | "limit" | "time_unit">
interface Live {
  refetchInterval: number | false
}

/** undefined: not counted yet. `hours`: what the list counts by the hour. */
export function useTimeCounts(
  hours: CallFacets | undefined,
  within: CountingWithin,
  live: Live,
): TimeCounts | undefined {
  const byHour = countsOf(hours, 3_600_000)
  const byMinute = useSmaller(byHour, { unitMs: 60_000, time_unit: "minute" }, within, live)
  return useSmaller(byMinute, { unitMs: 1_000, time_unit: "second" }, within, live)
}

interface Unit {
  unitMs: number
  time_unit: "minute" | "second"
}

/** As before where the calls do not lie close enough together, or these could not be counted. */
function useSmaller(
  coarser: TimeCounts | undefined,
  { unitMs, time_unit }: Unit,
  within: CountingWithin,
  live: Live,
): TimeCounts | undefined {
  const range = coarser?.unitMs === unitMs * 60 ? rangeOf(coarser) : null
  const isClose = range !== null && range.to - range.from <= mostCoarser * unitMs * 60
  const [answer] = useCallFacets(
    isClose ? [{ ...within(range.from, range.to), facets: [started], limit: mostTimes, time_unit }] : [],
    live,
  )
  if (!isClose || answer === undefined || answer.error !== null) return coarser
  return countsOf(answer.data, unitMs)
}

function countsOf(answer: CallFacets | undefined, unitMs: number): TimeCounts | undefined {
  const values = answer?.facets.find(({ field }) => field === started)?.values
  const counts = values?.flatMap(({ value, count }) => (value === null ? [] : { start: Date.parse(value), count }))
  return counts && { unitMs, counts: counts.toReversed() }
}

/** null: there is no call. */
function rangeOf({ unitMs, counts }: TimeCounts): { from: number; to: number } | null {
  const [first, last] = [counts[0], counts.at(-1)]
  return first === undefined || last === undefined ? null : { from: first.start, to: last.start + unitMs }
}
