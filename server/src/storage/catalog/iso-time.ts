/** Times of the catalog as text: PostgreSQL keeps microseconds, which a JavaScript `Date` would lose. */
import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely"

/** A timestamp column as ISO 8601 in UTC, to the microsecond, under its own name. */
export function isoTime<Name extends string>(column: Name): AliasedRawBuilder<string, Name> {
  return isoText<string>(column).as(column)
}

/** The same for a column that may be null. */
export function isoTimeOrNull<Name extends string>(column: Name): AliasedRawBuilder<string | null, Name> {
  return isoText<string | null>(column).as(column)
}

/** `column` may name its table too. */
export function isoText<Text extends string | null>(column: string): RawBuilder<Text> {
  return sql<Text>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
