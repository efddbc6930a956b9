/** Texts of clients for PostgreSQL, whose text has no U+0000, and would take half of a surrogate pair for U+FFFD. */
import { type RawBuilder, sql } from "kysely"

/** Makes texts storable that people and programs wrote: messages of errors do carry U+0000. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\ufffd")
}

/** Whether a name is kept as it is; a query would fail on another one, and with it those that share the query. */
export function isStorable(name: string): boolean {
  return !name.includes("\0") && name.isWellFormed()
}

/** U+0000 and halves of surrogate pairs as `JSON.stringify` escapes them; behind a backslash that is escaped, `u` is a letter. */
const notInJsonb = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** Makes a text of `JSON.stringify` storable as `jsonb`. */
export function storableJson(json: string): string {
  return json.replaceAll(notInJsonb, "$1\\ufffd")
}

/** Whether `jsonb` takes a text of `JSON.stringify` as it is. */
export function isStorableJson(json: string): boolean {
  return json.search(notInJsonb) === -1
}

/**
 * SQL: a `json` column of which functions can take the members apart; it keeps texts that they fail on. What `JSON.stringify`
 * does not escape is storable, so most documents are taken as they are.
 */
export function storableMembers(column: RawBuilder<unknown>): RawBuilder<unknown> {
  const [escape, by] = [String.raw`%\\u%`, `\\1\ufffd`]
  return sql`case when ${column}::text like ${escape}
    then regexp_replace(${column}::text, ${notInJsonb.source}, ${by}, 'g')::json else ${column} end`
}

/** The pattern of `like` and `ilike` for texts that contain this one. */
export function likePart(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}
