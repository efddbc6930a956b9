/** Pages of rows with long texts: one ends early where its rows would be too many bytes together. */

/** A page that is full of the longest configs has two. */
const pageBytes = 16 * 1024 ** 2

/** The first of the rows that fit a page, and at least one. */
export function fittingPage<T extends { bytes: number }>(rows: readonly T[]): T[] {
  let bytes = 0
  const end = rows.findIndex((row, index) => (bytes += row.bytes) > pageBytes && index > 0)
  return end === -1 ? [...rows] : rows.slice(0, end)
}
