/** Fields that lead through refs inside payloads: evaluation-store-calls 3.9. */
import { hasNeedlessEscape, hasOddJson } from "../calls-tables.ts"
import { jsonValue } from "../../query/json-value.ts"
import type { SqlParameters } from "../../query/sql-parameters.ts"
import type { SqlValue } from "../../query/sql-value.ts"

/** Targets of the refs at one path of `expand_columns`. */
export interface Expansion {
  /** The segments of the path; the first is a payload column. */
  path: readonly string[]
  /** JSON texts by ref. */
  values: ReadonlyMap<string, string>
}

/** A path into a payload, through the expansions on its way. Where no ref stands, the path leads on in the payload. */
export function payloadValue(
  path: readonly string[],
  expansions: readonly Expansion[],
  parameters: SqlParameters,
): SqlValue {
  const [column = "", ...rest] = path
  const through = expansions.filter((one) => one.values.size > 0 && leadsThrough(one.path, path)).at(-1)
  if (through === undefined) return jsonValue(column, rest, parameters, hasOddJson, hasNeedlessEscape)
  const others = expansions.filter((one) => one !== through)
  const ref = payloadValue(through.path, others, parameters).as("text")
  const refs = parameters.bind([...through.values.keys()], "Array(String)")
  const texts = parameters.bind(
    [...through.values.values()].map((text) => `[${text}]`),
    "Array(String)",
  )
  const object = `transform(ifNull(${ref}, ''), ${refs}, ${texts}, '')`
  return either(
    jsonValue(object, path.slice(through.path.length), parameters, null),
    payloadValue(path, others, parameters),
  )
}

function leadsThrough(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.length < path.length && prefix.every((segment, index) => segment === path[index])
}

/** The second where the first is missing. */
export function either(first: SqlValue, second: SqlValue): SqlValue {
  return {
    kind: "json",
    as: (type) => `ifNull(${first.as(type)}, ${second.as(type)})`,
    get exists() {
      return `(${first.exists} or ${second.exists})`
    },
    get size() {
      return `ifNull(${first.size}, ${second.size})`
    },
  }
}
