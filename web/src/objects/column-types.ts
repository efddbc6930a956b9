/** The columns of rows, and of which type their values are. */
import { type JsonKind, kindAt, skipBlanks } from "../json/json-cursor.ts"
import type { JsonText } from "../json/json-text.ts"
import { cellsOf } from "./row-diff.ts"

const words: Readonly<Record<Exclude<JsonKind, "null">, string>> = {
  string: "text",
  number: "number",
  boolean: "true or false",
  object: "object",
  array: "list",
}

/** Columns in the order in which rows name them. Values that are missing or null say nothing of a type. */
export function columnTypes(rows: readonly { val: JsonText }[]): Map<string, string> {
  const columns = new Map<string, Set<string>>()
  for (const row of rows) {
    for (const [name, value] of cellsOf(row)) {
      const types = columns.get(name) ?? new Set()
      columns.set(name, types)
      const kind = kindAt(value, skipBlanks(value, 0))
      if (kind !== "null") types.add(words[kind])
    }
  }
  return new Map([...columns].map(([name, types]) => [name, types.size === 0 ? "empty" : [...types].join(" or ")]))
}
