/** Times as the columns of type DateTime64(6) take them: `2026-01-02 03:04:05.123456`, UTC. */
import { microsecondsOf } from "./query/sql-time.ts"

/** Range of ClickHouse's DateTime64. */
const first = BigInt(Date.UTC(1900, 0, 1)) * 1000n
const last = BigInt(Date.UTC(2299, 11, 31, 23, 59, 59)) * 1000n + 999_999n

/** As the SDKs send nearly all of them, to be stored with little change; days that not every month has go the long way. */
const usual =
  /^(20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]))T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)\.(\d{3}(?:\d{3})?)Z$/

/** ISO 8601 (without a zone: UTC; digits past the sixth are dropped); null: not such a time, or outside 1900 to 2299. */
export function storedTime(text: string): string | null {
  const match = usual.exec(text)
  return match === null ? fromMicroseconds(microsecondsOf(text)) : `${match[1]} ${match[2]}.${match[3]}`
}

/** Formats a time of the server's own clock. */
export function storedMoment(moment: Date): string {
  return moment.toISOString().slice(0, -1).replace("T", " ")
}

function fromMicroseconds(microseconds: bigint | null): string | null {
  if (microseconds === null || microseconds < first || microseconds > last) return null
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = Number((microseconds - fraction) / 1_000_000n)
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}.${String(fraction).padStart(6, "0")}`
}
