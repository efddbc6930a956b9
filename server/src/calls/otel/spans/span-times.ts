/** Times of spans as text. */

/** `2026-01-02T03:04:05.123456789Z`; the microseconds of the columns are not all that a span has. */
export function nanosecondTime(nanoseconds: bigint): string {
  const second = nanoseconds / 1_000_000_000n
  const rest = Number(nanoseconds - second * 1_000_000_000n)
  return `${secondText(Number(second))}.${String(rest).padStart(9, "0")}Z`
}

const firstSecond = Date.UTC(1900, 0, 1) / 1000
const lastSecond = Date.UTC(2299, 11, 31, 23, 59, 59) / 1000

/** As the columns of type DateTime64(6) take it, from microseconds since 1970; null: not within 1900 to 2299. */
export function storedMicroseconds(microseconds: bigint): string | null {
  const rest = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const second = Number((microseconds - rest) / 1_000_000n)
  if (second < firstSecond || second > lastSecond) return null
  return `${secondText(second).replace("T", " ")}.${String(rest).padStart(6, "0")}`
}

/** Spans that are sent together began and ended within few seconds, and each second is asked for several times. */
const secondTexts = new Map<number, string>()
const mostSeconds = 1_000

function secondText(second: number): string {
  const known = secondTexts.get(second)
  if (known !== undefined) return known
  if (secondTexts.size === mostSeconds) secondTexts.clear()
  const text = new Date(second * 1000).toISOString().slice(0, -5)
  secondTexts.set(second, text)
  return text
}
