/** The refs in a payload: strings of it that are refs from their first letter on (evaluation-store-calls 2.3). */
import { sqlLiteral } from "../../store/sql-literal.ts"
import type { SqlParameters } from "../../query/sql-parameters.ts"

/** A quote after a backslash is part of the string. */
const quotedRef = sqlLiteral(String.raw`[^\\]"(weave:///[^"]*)"`)
const backslash = sqlLiteral("\\")

/** SQL: the array of the refs in a payload column. */
export function payloadRefs(column: string): string {
  const read = `if(position(ref, ${backslash}) = 0, ref, JSONExtractString(concat('["', ref, '"]'), 1))`
  return `arrayMap(ref -> ${read}, extractAll(ifNull(${column}, ''), ${quotedRef}))`
}

/** At the end of a ref: any version. */
const anyVersion = ":*"
/** ClickHouse searches for at most 255 texts at once. */
const needlesAtOnce = 255

/** SQL: a payload column has one of the refs. A search for texts goes ahead of the exact test, which costs more. */
export function hasRef(column: string, refs: readonly string[], parameters: SqlParameters): string {
  const families = refs.filter((ref) => ref.endsWith(anyVersion)).map((ref) => ref.slice(0, -1))
  const exact = refs.filter((ref) => !ref.endsWith(anyVersion))
  const needles = [...families.map(spelledAlike), ...exact.map((ref) => spelledAlike(`${ref}"`))]
  const searches: string[] = []
  for (let from = 0; from < needles.length; from += needlesAtOnce) {
    const some = parameters.bind(needles.slice(from, from + needlesAtOnce), "Array(String)")
    searches.push(`multiSearchAny(ifNull(${column}, ''), ${some})`)
  }
  const found = payloadRefs(column)
  const tests: string[] = []
  if (exact.length > 0) tests.push(`hasAny(${found}, ${parameters.bind(exact, "Array(String)")})`)
  if (families.length > 0) {
    const starts = parameters.bind(families, "Array(String)")
    tests.push(`arrayExists(one -> arrayExists(start -> startsWith(one, start), ${starts}), ${found})`)
  }
  return `((${searches.join(" or ")}) and (${tests.join(" or ")}))`
}

/** The part of a string's start that every JSON writer spells alike: up to the first letter that some escape. */
function spelledAlike(start: string): string {
  return `"${/^[ !#-[\]-~]*"?/.exec(start)?.[0] ?? ""}`
}
