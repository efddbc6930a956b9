/** Lists of texts in statements. A statement has at most 65,535 parameters, a list of a client may be longer. */
import { type Expression, type RawBuilder, sql } from "kysely"

/** Longer lists are one parameter; shorter ones are many, of which PostgreSQL makes better plans. */
const mostParameters = 1000

/** For the right side of `in` and `not in`. */
export function listOf(texts: readonly string[]): readonly string[] | Expression<string> {
  return texts.length <= mostParameters ? texts : sql<string>`(select * from ${rowsOf(texts)})`
}

/** {@link listOf} for a column of the type uuid, which equals no text. Each must be one. */
export function idListOf(ids: readonly string[]): readonly string[] | Expression<string> {
  return ids.length <= mostParameters ? ids : sql<string>`(select value::uuid from ${rowsOf(ids)})`
}

/** For `from`: a row for each. */
export function rowsOf(texts: readonly string[]): RawBuilder<unknown> {
  return sql`json_array_elements_text(${JSON.stringify(texts)}::json)`
}
