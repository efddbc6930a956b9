/**
 * The sort time of a call: milliseconds since 1970 by which its rows are ordered on disk, so that calls
 * that began together are stored together whatever their ids are. It never changes, as rows with
 * different sort times would not become one call.
 *
 * A UUIDv7 holds its sort time. Any other id gets that of its first start, which `call_places` records;
 * see call-placer.ts.
 */

/** Sort time of rows whose call has not started and whose id holds no time. Later than every real one. */
export const unknownSortTime = 2 ** 48

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** null: the id is no UUIDv7 in its usual spelling. */
export function sortTimeInId(id: string): number | null {
  if (id.length !== 36 || !uuid7.test(id)) return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** `startedAt`: as it is stored, `2026-01-02 03:04:05.123456`. */
export function sortTimeOfStart(startedAt: string): number {
  return Date.parse(`${startedAt.slice(0, 10)}T${startedAt.slice(11, 23)}Z`)
}

/** SQL: {@link sortTimeInId} of the column `id`, where {@link holdsSortTimeSql}. */
export const sortTimeInIdSql =
  "toInt64(reinterpretAsUInt64(reverse(unhex(concat(substring(id, 1, 8), substring(id, 10, 4))))))"

export const holdsSortTimeSql = `match(id, '${uuid7.source}')`
