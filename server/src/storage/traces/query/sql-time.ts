/** Times between the wire and ClickHouse: microseconds since 1970, UTC. */

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/

/** Microseconds since 1970 of an ISO date or time (without a zone: UTC; digits past the sixth are dropped); null: not one. */
export function microsecondsOf(text: string): bigint | null {
  const match = isoTime.exec(text.trim())
  if (match === null) return null
  const [, date, minutes = "00:00", seconds = "00", fraction = "", zone = "Z"] = match
  const milliseconds = Date.parse(`${date}T${minutes}:${seconds}.000${isoZone(zone)}`)
  if (Number.isNaN(milliseconds)) return null
  return BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, "0").slice(0, 6))
}

function isoZone(zone: string): string {
  if (zone.toUpperCase() === "Z") return "Z"
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0")
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

/** `2026-01-02T03:04:05.123456Z`. */
export function isoTimeOf(microseconds: bigint): string {
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = new Date(Number((microseconds - fraction) / 1000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(fraction).padStart(6, "0")}Z`
}

/** SQL: a time column as `2026-01-02T03:04:05.123456Z`. */
export function isoTimeSql(column: string): string {
  return `concat(replaceOne(toString(${column}), ' ', 'T'), 'Z')`
}
