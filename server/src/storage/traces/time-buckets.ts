/** Buckets of equal width over a range of time: evaluation-store-calls 4.2. */

/** Microseconds since 1970: inclusive, exclusive. */
export interface TimeRange {
  start: bigint
  end: bigint
}

export interface TimeBuckets extends TimeRange {
  /** Width. */
  seconds: number
  /** UTC offset of the time zone at the start: buckets begin at multiples of the width in its local time. */
  offsetSeconds: number
}

const mostBuckets = 10_000

const hour = 3600
const day = 24 * hour

/** The width for ranges up to so many seconds. */
const widths = [
  [2 * hour, 300],
  [12 * hour, hour],
  [3 * day, 6 * hour],
  [14 * day, 12 * hour],
  [Infinity, day],
] as const

/** `requested`: null for the width that suits the range. There are never more than 10 000 buckets. */
export function bucketSeconds(start: bigint, end: bigint, requested: number | null): number {
  const range = Number(end - start) / 1e6
  const suitable = widths.find(([longest]) => range <= longest)?.[1] ?? day
  const seconds = requested ?? suitable
  return range / seconds <= mostBuckets ? seconds : Math.max(seconds, Math.floor(range / mostBuckets) + 1)
}

/** How many buckets the range has, or one less: the first one may begin before it. */
export function bucketCount({ start, end, seconds }: TimeRange & Pick<TimeBuckets, "seconds">): number {
  return Math.ceil(Number(end - start) / 1e6 / seconds)
}

/** Unix seconds at which each bucket begins; the first may begin before the range does. */
export function bucketStarts(buckets: TimeBuckets): number[] {
  const { start, end, seconds, offsetSeconds } = buckets
  const first = Math.floor((Math.floor(Number(start) / 1e6) + offsetSeconds) / seconds) * seconds - offsetSeconds
  const starts: number[] = []
  for (let bucket = first; bucket < Number(end) / 1e6; bucket += seconds) starts.push(bucket)
  return starts
}

/** SQL: the Unix second at which the bucket of a time begins. */
export function bucketSql(
  column: string,
  { seconds, offsetSeconds }: Pick<TimeBuckets, "seconds" | "offsetSeconds">,
): string {
  const local = `(toUnixTimestamp64Milli(${column}) + ${offsetSeconds * 1000})`
  return `intDiv(${local} - positiveModulo(${local}, ${seconds * 1000}), 1000) - ${offsetSeconds}`
}

/** SQL: the time is in the range. */
export function rangeSql(column: string, { start, end }: TimeRange): string {
  const at = (microseconds: bigint) => `fromUnixTimestamp64Micro(toInt64(${microseconds}), 'UTC')`
  return `(${column} >= ${at(start)} and ${column} < ${at(end)})`
}
