/**
 * When a call goes by its age: its start and the days for which its project keeps calls. It is computed when it is read, so
 * that a change of the project's limit counts for all its calls at once.
 */

/** SQL, a nullable time. `retentionDays`, a whole number; null: never. */
export function expireAtSql(retentionDays: number | null): string {
  return retentionDays === null ? "nullIf(started_at, started_at)" : `addDays(started_at, ${retentionDays})`
}

/** {@link expireAtSql} of an ISO time in UTC, whose digits behind the day stay as they are. */
export function expireAt(startedAt: string, retentionDays: number | null): string | null {
  if (retentionDays === null) return null
  const day = new Date(`${startedAt.slice(0, dayLength)}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + retentionDays)
  return day.toISOString().slice(0, dayLength) + startedAt.slice(dayLength)
}

/** Of `2026-01-02`. */
const dayLength = 10
