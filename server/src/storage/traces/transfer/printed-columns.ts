/**
 * Columns as they are exported. JSON Lines and CSV show times as ISO texts; Parquet keeps them as
 * times. Payloads are the JSON texts that came: in JSON Lines values of their own, else texts.
 */
import { isoTimeSql } from "../query/sql-time.ts"
import type { PrintFormat } from "../store/trace-store.ts"

export type ExportFormat = "jsonl" | "csv" | "parquet"

/** `clearable`: an empty text is null. `json`: a text in the two brackets that keep it whole. `values`: a list or map. */
export type ColumnKind = "text" | "clearable" | "time" | "number" | "json" | "values"

export type Columns = Readonly<Record<string, ColumnKind>>

/** SQL of columns that the table has not. */
export type Computed = Readonly<Record<string, string>>

export const printFormats: Readonly<Record<ExportFormat, PrintFormat>> = {
  jsonl: "TSVRaw",
  csv: "CSVWithNames",
  parquet: "Parquet",
}

export interface PrintStyle {
  format: ExportFormat
  /** In CSV, a text that a spreadsheet would run as a formula gets an apostrophe before it. */
  spreadsheetSafe: boolean
}

/** The SQL between `select` and `from`. */
export function printedColumns(columns: Columns, style: PrintStyle, computed: Computed = {}): string {
  const entries = Object.entries(columns).map(([name, kind]) => ({ name, kind, sql: computed[name] ?? name }))
  if (style.format === "jsonl") return jsonLine(entries)
  const cell = style.format === "parquet" ? parquetCell : style.spreadsheetSafe ? safeCell : csvCell
  return entries.map(({ name, kind, sql }) => `${cell(sql, kind)} as ${name}`).join(", ")
}

interface Printed {
  name: string
  kind: ColumnKind
  sql: string
}

function parquetCell(sql: string, kind: ColumnKind): string {
  if (kind === "clearable") return `nullIf(${sql}, '')`
  return kind === "json" ? jsonText(sql) : sql
}

function csvCell(sql: string, kind: ColumnKind): string {
  if (kind === "time") return isoTimeSql(sql)
  return kind === "values" ? `toJSONString(${sql})` : parquetCell(sql, kind)
}

/** Characters that make a cell a formula, of which tab and return are skipped by the programs. */
const formulaStart = String.raw`'^[\\s]*[=+\\-@]'`

function safeCell(sql: string, kind: ColumnKind): string {
  const cell = csvCell(sql, kind)
  if (kind === "time" || kind === "number") return cell
  return `if(match(ifNull(${cell}, ''), ${formulaStart}), concat('''', ${cell}), ${cell})`
}

function jsonLine(entries: readonly Printed[]): string {
  const members = entries.map(
    ({ name, kind, sql }, index) => `'${index === 0 ? "{" : ","}"${name}":', ${jsonValue(sql, kind)}`,
  )
  return withoutLineBreaks(`concat(${members.join(", ")}, '}')`)
}

function jsonValue(sql: string, kind: ColumnKind): string {
  if (kind === "json") return `ifNull(${jsonText(sql)}, 'null')`
  if (kind === "number") return `ifNull(toString(${sql}), 'null')`
  if (kind === "time") return `ifNull(concat('"', ${isoTimeSql(sql)}, '"'), 'null')`
  return `ifNull(toJSONString(${kind === "clearable" ? `nullIf(${sql}, '')` : sql}), 'null')`
}

const jsonText = (sql: string) => `substring(${sql}, 2, length(${sql}) - 2)`

/** As `json/json-lines.ts` does it: what Python's `str.splitlines` takes for a line end is escaped, or between tokens a space. */
const lineBreaks = { "\\n": " ", "\\r": " ", "\u0085": "\\\\u0085", "\u2028": "\\\\u2028", "\u2029": "\\\\u2029" }

function withoutLineBreaks(line: string): string {
  const breaks = Object.keys(lineBreaks).map((one) => `'${one}'`)
  const replaced = Object.entries(lineBreaks).reduce(
    (text, [from, to]) => `replaceAll(${text}, '${from}', '${to}')`,
    "line",
  )
  return `arrayMap(line -> if(multiSearchAny(line, [${breaks.join(", ")}]), ${replaced}, line), [${line}])[1] as line`
}
