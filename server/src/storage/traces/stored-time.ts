/** Times as the columns of type DateTime64(6) take them: `2026-01-02 03:04:05.123456`, UTC. */
import { microsecondsOf } from "./sql-time.ts"

/** What ClickHouse's DateTime64 holds. */
const first = BigInt(Date.UTC(1900, 0, 1)) * 1000n
const last = BigInt(Date.UTC(2299, 11, 31, 23, 59, 59)) * 1000n + 999_999n

/** ISO 8601 (without a zone: UTC; digits past the sixth are dropped); null: not such a time, or outside 1900 to 2299. */
export function storedTime(text: string): string | null {
  const microseconds = microsecondsOf(text)
  if (microseconds === null || microseconds < first || microseconds > last) return null
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = Number((microseconds - fraction) / 1_000_000n)
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}.${String(fraction).padStart(6, "0")}`
}
