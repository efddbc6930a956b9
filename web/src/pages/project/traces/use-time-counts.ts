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

type Counting = Omit<CallFacetsQuery, "facets" | "limit" | "time_unit">
interface Live {
  refetchInterval: number | false
}

/** undefined: not counted yet. `hours`: the answer to `counting`, by the hour. */
export function useTimeCounts(hours: CallFacets | undefined, counting: Counting, live: Live): TimeCounts | undefined {
  const byHour = countsOf(hours, 3_600_000)
  const byMinute = useSmaller(byHour, { unitMs: 60_000, time_unit: "minute" }, counting, live)
  return useSmaller(byMinute, { unitMs: 1_000, time_unit: "second" }, counting, live)
}

interface Unit {
  unitMs: number
  time_unit: "minute" | "second"
}

/** As before where the calls do not lie close enough together, or these could not be counted. */
function useSmaller(
  coarser: TimeCounts | undefined,
  { unitMs, time_unit }: Unit,
  counting: Counting,
  live: Live,
): TimeCounts | undefined {
  const isClose = coarser !== undefined && unitMs * 60 === coarser.unitMs && spanOf(coarser) <= mostCoarser
  const [answer] = useCallFacets(isClose ? [{ ...counting, facets: [started], limit: mostTimes, time_unit }] : [], live)
  if (!isClose || answer === undefined || answer.error !== null) return coarser
  return countsOf(answer.data, unitMs)
}

function countsOf(answer: CallFacets | undefined, unitMs: number): TimeCounts | undefined {
  const values = answer?.facets.find(({ field }) => field === started)?.values
  const counts = values?.flatMap(({ value, count }) => (value === null ? [] : { start: Date.parse(value), count }))
  return counts && { unitMs, counts: counts.toReversed() }
}

/** In units; without a call infinite. */
function spanOf({ unitMs, counts }: TimeCounts): number {
  const [first, last] = [counts[0], counts.at(-1)]
  return first === undefined || last === undefined ? Number.POSITIVE_INFINITY : (last.start - first.start) / unitMs + 1
}
