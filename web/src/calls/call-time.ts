/** Times of calls. */

/** Where the microseconds stand in `2026-11-20T10:00:00.000900Z`. */
const microsAt = 23

/** Milliseconds since 1970, with the microseconds, which `Date` drops: calls inside one millisecond keep their order and length. */
export function timeOf(text: string): number {
  const micros = text.length > microsAt + 1 ? Number(text.slice(microsAt, microsAt + 3)) / 1000 : 0
  return Date.parse(text) + (Number.isNaN(micros) ? 0 : micros)
}
