/** The range of time that statistics are asked for: evaluation-store-calls 4.2, evaluation-store-objects 5. */
import { HeddleError, invalid } from "../../errors.ts"
import { isoTimeOf, microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import { bucketSeconds, type TimeBuckets } from "../../storage/traces/time-buckets.ts"

interface RangeBody {
  start: string
  end?: string | null | undefined
  granularity?: number | null | undefined
  timezone?: string | null | undefined
}

/** @throws {HeddleError} 422 for times that are none, or in the wrong order; 400 for a time zone that is none. */
export function timeBuckets(body: RangeBody): TimeBuckets {
  const { start, end } = range(body)
  const seconds = bucketSeconds(start, end, body.granularity ?? null)
  return { start, end, seconds, offsetSeconds: offsetOf(body.timezone ?? "UTC", start) }
}

/** Microseconds since 1970. */
export function range(body: Pick<RangeBody, "start" | "end">): { start: bigint; end: bigint } {
  const start = moment("start", body.start)
  // The end is exclusive, and what was made just now belongs to it.
  const end = body.end == null ? BigInt(Date.now() + 1) * 1000n : moment("end", body.end)
  if (end < start) throw invalid(["body", "end"], `end must not come before start (${body.start})`)
  return { start, end }
}

/** Microseconds since 1970 of a time in a field of the body. @throws {HeddleError} 422 for a text that is none. */
export function moment(field: string, text: string): bigint {
  const microseconds = microsecondsOf(text)
  if (microseconds !== null) return microseconds
  throw invalid(
    ["body", field],
    `"${text}" is not a time in ISO 8601, such as 2026-01-31T00:00:00Z`,
    "datetime_parsing",
  )
}

/** Values of one bucket: each is one more expression in a query. */
const mostColumns = 1_000
/** Values in one answer: as text they take some 20 MB, and what the text is made of several times as much. */
const mostValues = 500_000

/**
 * @param columns values of one row.
 * @param rows of one bucket.
 * @throws {HeddleError} `value_error` for more than one answer holds.
 */
export function checkAnswerSize(buckets: number, columns: number, rows = 1): void {
  if (columns > mostColumns) {
    const message = `the metrics ask for ${columns} values of each bucket; one request may ask for ${mostColumns}`
    throw new HeddleError("value_error", `${message}. Ask for fewer aggregations and percentiles`)
  }
  if (buckets * columns * rows <= mostValues) return
  const of = rows === 1 ? "" : ` of ${rows} rows`
  const message = `the answer would have ${buckets} buckets${of} with ${columns} values each; it may have ${mostValues} values`
  throw new HeddleError("value_error", `${message}. Ask for a larger granularity, a shorter range or fewer metrics`)
}

/** The part of the answer that says which range it is about. */
export function rangeAnswer({ start, end, seconds }: TimeBuckets, timezone: string | null | undefined) {
  return { start: isoTimeOf(start), end: isoTimeOf(end), granularity: seconds, timezone: timezone ?? "UTC" }
}

export function bucketTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(/\.000Z$/, "+00:00")
}

/** Seconds that the zone is ahead of UTC at a moment. */
function offsetOf(timeZone: string, at: bigint): number {
  const milliseconds = Math.floor(Number(at) / 1e6) * 1000
  const parts = Object.fromEntries(
    clockOf(timeZone)
      .formatToParts(milliseconds)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return (Date.UTC(year, month - 1, day, hour, minute, second) - milliseconds) / 1000
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const number = "numeric" as const
  const fields = { year: number, month: number, day: number, hour: number, minute: number, second: number }
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", calendar: "gregory", ...fields })
  } catch (cause) {
    throw new HeddleError("value_error", `"${timeZone}" is not a time zone; give an IANA name such as Europe/Berlin`, {
      cause,
    })
  }
}
