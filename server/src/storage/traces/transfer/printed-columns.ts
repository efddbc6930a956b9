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
export function printedColumns(columns: Columns, style: PrintStyle): string {
  const entries = Object.entries(columns)
  if (style.format === "jsonl") return jsonLine(entries)
  const cell = style.format === "parquet" ? parquetCell : style.spreadsheetSafe ? safeCell : csvCell
  return entries.map(([name, kind]) => `${cell(name, kind)} as ${name}`).join(", ")
}

function parquetCell(name: string, kind: ColumnKind): string {
  if (kind === "clearable") return `nullIf(${name}, '')`
  return kind === "json" ? jsonText(name) : name
}

function csvCell(name: string, kind: ColumnKind): string {
  if (kind === "time") return isoTimeSql(name)
  return kind === "values" ? `toJSONString(${name})` : parquetCell(name, kind)
}

/** Characters that make a cell a formula, of which tab and return are skipped by the programs. */
const formulaStart = String.raw`'^[\\s]*[=+\\-@]'`

function safeCell(name: string, kind: ColumnKind): string {
  const cell = csvCell(name, kind)
  if (kind === "time" || kind === "number") return cell
  return `if(match(ifNull(${cell}, ''), ${formulaStart}), concat('''', ${cell}), ${cell})`
}

function jsonLine(entries: readonly (readonly [string, ColumnKind])[]): string {
  const members = entries.map(
    ([name, kind], index) => `'${index === 0 ? "{" : ","}"${name}":', ${jsonValue(name, kind)}`,
  )
  return withoutLineBreaks(`concat(${members.join(", ")}, '}')`)
}

function jsonValue(name: string, kind: ColumnKind): string {
  if (kind === "json") return `ifNull(${jsonText(name)}, 'null')`
  if (kind === "number") return `ifNull(toString(${name}), 'null')`
  if (kind === "time") return `ifNull(concat('"', ${isoTimeSql(name)}, '"'), 'null')`
  return `ifNull(toJSONString(${kind === "clearable" ? `nullIf(${name}, '')` : name}), 'null')`
}

const jsonText = (name: string) => `substring(${name}, 2, length(${name}) - 2)`

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
