import { isJsonObject } from "../../json/parsed-json.ts"
/** The columns of a history row: nested objects have one for each member, joined by dots (platform-wandb 7). */

export interface Columns {
  names: string[]
  /** `number`, `string`, … or the `_type` of a media object. */
  types: string[]
}

/** Further columns of one row are stored and read with the row, and not listed. */
const mostColumns = 10_000
const deepest = 20

export function columnsOf(row: Readonly<Record<string, unknown>>): Columns {
  const columns: Columns = { names: [], types: [] }
  addColumns(columns, row, "", 0)
  return columns
}

function addColumns(columns: Columns, value: Readonly<Record<string, unknown>>, prefix: string, depth: number): void {
  for (const name in value) {
    if (columns.names.length >= mostColumns) return
    const member = value[name]
    const path = prefix === "" ? name : `${prefix}.${name}`
    if (isJsonObject(member) && typeof member["_type"] !== "string" && depth < deepest) {
      addColumns(columns, member, path, depth + 1)
    } else {
      columns.names.push(path)
      columns.types.push(typeOf(member))
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "nil"
  if (Array.isArray(value)) return "list"
  if (!isJsonObject(value)) return typeof value
  return typeof value["_type"] === "string" ? value["_type"] : "map"
}

/** A row's value in a column, or undefined. A member whose own name has dots comes first. */
export function columnOf(row: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name]
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
    const outer = name.slice(0, dot)
    const inner = Object.hasOwn(row, outer) ? row[outer] : undefined
    const found = isJsonObject(inner) ? columnOf(inner, name.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
