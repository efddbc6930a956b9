/**
 * Searches in the text of JSON columns, ahead of the exact tests, which parse it. Where an expression is true, its search is
 * true as well; the other way round it need not be.
 */
import type { LiteralValue, Operand } from "../../../wire/queries/query.ts"
import type { QueryScope } from "./query-condition.ts"
import { sqlLiteral } from "../store/sql-literal.ts"
import type { SqlParameters } from "./sql-parameters.ts"
import type { JsonText, SqlValue } from "./sql-value.ts"

/** ClickHouse searches for at most 255 texts at once. */
const needlesAtOnce = 254
/** JSON text spells it like this, if not with an escape ({@link needlessEscape}), and no number or bracket contains it. */
const plainText = /^(?=.*[a-df-zA-DF-Z])[\w .-]{3,}$/
/** The escapes of the characters that {@link plainText} has: hardly any program writes one. */
const needlessEscape = String.raw`\\u00(?:2[0dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])`

/** SQL, true or NULL: one of the columns spells with an escape what {@link searchText} looks for. */
export function spellsWithEscape(columns: readonly string[]): string {
  return `if(${columns.map((column) => `match(${column}, ${sqlLiteral(needlessEscape)})`).join(" or ")}, 1, NULL)`
}

export type Position = "position" | "positionCaseInsensitive"

/** SQL of a Bool: the column may hold one of the texts; null: no search tells. */
export function searchText(
  { jsonText }: SqlValue,
  wanted: readonly (LiteralValue | undefined)[],
  { parameters, exactUnknown }: QueryScope,
  position: Position = "position",
): string | null {
  // A search gives false where the exact test may give unknown.
  if (jsonText === undefined || exactUnknown === true) return null
  if (!areSearched(wanted)) return null
  return searchAny(jsonText, wanted, parameters, position)
}

const isPlain = (text: LiteralValue | undefined): text is string => typeof text === "string" && plainText.test(text)

const areSearched = (wanted: readonly (LiteralValue | undefined)[]): wanted is readonly string[] =>
  wanted.length > 0 && wanted.length <= needlesAtOnce && wanted.every(isPlain)

/** A few texts are found sooner one after the other than at once. */
const fewNeedles = 4

function searchAny(
  { column, hasNeedlessEscape }: JsonText,
  wanted: readonly string[],
  parameters: SqlParameters,
  position: Position,
): string {
  const needles = hasNeedlessEscape === undefined ? [...wanted, "\\u00"] : wanted
  const orEscaped = hasNeedlessEscape === undefined ? "" : ` or ${hasNeedlessEscape}`
  if (wanted.length >= fewNeedles) {
    return `(multiSearchAny(ifNull(${column}, ''), ${parameters.bind(needles, "Array(String)")})${orEscaped})`
  }
  const searches = needles.map((needle) => `${position}(${column}, ${parameters.bind(needle, "String")}) > 0`)
  return `ifNull(${searches.join(" or ")}${orEscaped}, false)`
}

/** A search that by itself finds every row for which an expression is true. */
export interface RowSearch {
  sql: string
  /** Length of the shortest text: the longer it is, the fewer rows it finds. */
  length: number
}

/**
 * Searches for one of the parts of an expression each, the most telling one first, in columns of `scope` that rows hold as
 * they are: of rows that a read makes one (`final`), each value is that of one of them, which the search finds.
 */
export function rowSearches(expression: Operand, scope: QueryScope): RowSearch[] {
  const { $and, $or } = expression
  if ($and !== undefined) return $and.flatMap((one) => rowSearches(one, scope)).toSorted((a, b) => b.length - a.length)
  if ($or !== undefined) return either($or.map((one) => rowSearches(one, scope)[0] ?? null))
  return leafSearch(expression, scope)
}

function either(searches: readonly (RowSearch | null)[]): RowSearch[] {
  const all = searches.filter((one) => one !== null)
  if (all.length === 0 || all.length < searches.length) return []
  const sql = `(${all.map((one) => one.sql).join(" or ")})`
  return [{ sql, length: Math.min(...all.map(({ length }) => length)) }]
}

function leafSearch(expression: Operand, scope: QueryScope): RowSearch[] {
  const leaf = leafOf(expression)
  if (leaf?.field === undefined) return []
  const value = scope.field(leaf.field)
  const sql = storedSearch(value, leaf, scope)
  return sql === null ? [] : [{ sql, length: Math.min(...leaf.wanted.filter(isPlain).map((text) => text.length)) }]
}

function storedSearch(value: SqlValue, leaf: Leaf, scope: QueryScope): string | null {
  if (value.storedText !== undefined) return searchStored(value.storedText, leaf, scope.parameters)
  // Other values are made of rows of another table, or of several.
  if (value.jsonText?.hasNeedlessEscape === undefined) return null
  return searchText(value, leaf.wanted, scope, leaf.position)
}

/** Of a text that no JSON spells otherwise. */
function searchStored(
  column: string,
  { wanted, position = "position" }: Leaf,
  parameters: SqlParameters,
): string | null {
  if (!areSearched(wanted)) return null
  const searches = wanted.map((text) => `${position}(${column}, ${parameters.bind(text, "String")}) > 0`)
  return `ifNull(${searches.join(" or ")}, false)`
}

interface Leaf {
  field: string | undefined
  wanted: readonly (LiteralValue | undefined)[]
  position?: Position
}

function leafOf({ $eq, $in, $contains }: Operand): Leaf | null {
  if ($eq !== undefined) {
    const [left, right] = $eq
    const [named, other] = left.$getField === undefined ? [right, left] : [left, right]
    return { field: named.$getField, wanted: [other.$literal] }
  }
  if ($in !== undefined) {
    const [operand, candidates] = $in
    return {
      field: operand.$getField,
      wanted: candidates.map(({ $literal }) => $literal).filter((one) => one !== null),
    }
  }
  if ($contains === undefined) return null
  const { input, substr, case_insensitive } = $contains
  return {
    field: input.$getField,
    wanted: [substr.$literal],
    position: case_insensitive === true ? "positionCaseInsensitive" : "position",
  }
}
