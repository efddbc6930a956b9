/** Cells of calls and feedback in CSV and Parquet, back into the JSON that `storage/traces/transfer` printed. */
import { objectText } from "../../json/json-members.ts"
import type { ColumnKind, Columns } from "../../storage/traces/transfer/printed-columns.ts"
import type { CellReader } from "./csv-rows.ts"
import { RowError } from "./imported-row.ts"
import { DecimalText } from "./parquet-decimals.ts"
import { JsonText, type ValueReader } from "./parquet-rows.ts"

/** A reader that leaves out columns that are not in `columns`: files carry more than we know. */
export function csvCells(columns: Columns): CellReader {
  return (name, value) => {
    const kind = kindOf(columns, name)
    return kind === undefined || value === null ? null : fromText(name, kind, value)
  }
}

/** As {@link csvCells}. */
export function parquetCells(columns: Columns): ValueReader {
  return (name, value) => {
    const kind = kindOf(columns, name)
    if (kind === undefined || value === null || value === undefined) return null
    if (value instanceof JsonText) return value.text
    if (typeof value === "string") return fromText(name, kind, value)
    // A column of ids may well hold numbers.
    if (kind !== "text" && kind !== "clearable") return valueText(value)
    if (value instanceof DecimalText) return JSON.stringify(value.text)
    const isScalar = typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    return isScalar ? JSON.stringify(String(value)) : valueText(value)
  }
}

function kindOf(columns: Columns, name: string): ColumnKind | undefined {
  return Object.hasOwn(columns, name) ? columns[name] : undefined
}

function fromText(name: string, kind: ColumnKind, value: string): string {
  if (kind === "json" || kind === "values") return value
  if (kind === "clearable" && value === "") return "null"
  if (kind !== "number") return JSON.stringify(value)
  // Other programs pad numbers with zeros, which JSON does not know.
  if (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value)) return value.replace(/^(-?)0+(?=\d)/, "$1")
  throw new RowError("is not a number", name, value)
}

/** A value of a Parquet file as JSON: 64-bit integers in digits, times in ISO, bytes in base64. @throws {RowError} */
export function valueText(value: unknown): string {
  if (value instanceof JsonText || value instanceof DecimalText) return value.text
  if (typeof value === "bigint") return String(value)
  if (typeof value === "number" && !Number.isFinite(value)) return "null"
  if (value instanceof Date) return JSON.stringify(isoText(value))
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"))
  if (Array.isArray(value)) return `[${value.map(valueText).join(",")}]`
  if (typeof value === "object" && value !== null)
    return objectText(Object.entries(value).map(([name, member]) => [name, valueText(member)]))
  return JSON.stringify(value) ?? "null"
}

/** A Parquet file may name days that no calendar has. @throws {RowError} */
function isoText(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new RowError("has a date more than 100,000,000 days from 1970")
  return date.toISOString()
}
