/** The first rows of a file that is about to be imported, as the server will read them. */
import { counted } from "../format/counted.ts"
import type { JsonText } from "../json/json-text.ts"
import { isJsonObject } from "../json/parsed-json.ts"

export interface FilePreview {
  rows: { val: JsonText }[]
  /** The problem that keeps the file from being read, with its line, or null so far. */
  problem: string | null
}

const mostRows = 100

/** `isCut`: the text is the beginning of the file, and its last line may be half a line. */
export function previewLines(text: string, isCut: boolean): FilePreview {
  const lines = text.split("\n")
  if (isCut) lines.pop()
  const rows: FilePreview["rows"] = []
  for (const [index, line] of lines.entries()) {
    if (rows.length === mostRows) break
    const val = line.trim()
    if (val === "") continue
    const problem = faultOfRow(val)
    if (problem !== null) return { rows, problem: `line ${index + 1} ${problem}` }
    rows.push({ val: val as JsonText })
  }
  return { rows, problem: null }
}

function faultOfRow(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? null : "is no JSON object"
  } catch {
    return "is no JSON"
  }
}

/** RFC 4180, with the names of columns in the first line. A cell that is JSON means that, any other is a text. */
export function previewCsv(text: string, isCut: boolean): FilePreview {
  const { records, rest } = recordsOf(text.startsWith("\ufeff") ? text.slice(1) : text)
  // A quote that is open at the cut is closed behind it.
  const isFault = rest !== "" && !(isCut && /^"(?:[^"]|"")*$/.test(rest))
  if (isCut && rest === "") records.pop()
  const [header = [], ...cells] = records.slice(0, mostRows + 1)
  const names = header.map((cell) => cell ?? "")
  if (names.includes("")) return { rows: [], problem: "line 1 has a column without a name" }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return { rows: [], problem: `line 1 names the column “${twice}” twice` }
  const rows: FilePreview["rows"] = []
  for (const [index, record] of cells.entries()) {
    if (record.length === 1 && record[0] === null && names.length > 1) continue
    if (record.length !== names.length) {
      const problem = `row ${index + 1} has ${counted(record.length, "cell")}, and the first line names ${counted(names.length, "column")}`
      return { rows, problem }
    }
    const members = names.flatMap((name, at) => {
      const cell = record[at] ?? null
      return cell === null ? [] : [`${JSON.stringify(name)}:${cellJson(cell)}`]
    })
    rows.push({ val: `{${members.join(",")}}` as JsonText })
  }
  const line = text.slice(0, text.length - rest.length).split(/\r\n?|\n/).length
  return { rows, problem: isFault ? `line ${line} has a cell whose quotes do not match` : null }
}

function cellJson(cell: string): string {
  const text = cell.trim()
  if (!/^[-{["0-9tfn]/.test(text)) return JSON.stringify(cell)
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(cell)
  }
}

/** An empty cell is null; one between quotes is the empty text. `rest`: from the first cell whose quotes do not match. */
function recordsOf(text: string): { records: (string | null)[][]; rest: string } {
  const records: (string | null)[][] = []
  let record: (string | null)[] = []
  // A cell between quotes, in which a quote is two, or one without; then what ends it.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n?|\n|$)/y
  while (cell.lastIndex < text.length) {
    const start = cell.lastIndex
    const found = cell.exec(text)
    if (found === null) return { records, rest: text.slice(start) }
    const [, quoted, plain = "", end] = found
    record.push(quoted === undefined ? (plain === "" ? null : plain) : quoted.replaceAll('""', '"'))
    if (end !== ",") {
      records.push(record)
      record = []
    } else if (cell.lastIndex === text.length) {
      records.push([...record, null])
    }
  }
  return { records, rest: "" }
}
