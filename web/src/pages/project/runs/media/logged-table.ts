/** The file of a `wandb.Table`: names of its columns, and its rows as texts of JSON, with every digit as it was written. */
import { elementTexts, type JsonText, memberTexts } from "../../../../json/json-text.ts"
import { valueText } from "../../../../json/value-text.ts"
import { readableJson } from "../run-values.ts"

export interface LoggedTable {
  columns: readonly string[]
  rows: readonly (readonly JsonText[])[]
}

/** null: the text is no such table. */
export function loggedTable(text: string): LoggedTable | null {
  const readable = readableJson(text.trim())
  if (!readable.startsWith("{")) return null
  const members = memberTexts(readable)
  const [columns, data] = [members.get("columns"), members.get("data")]
  if (columns?.startsWith("[") !== true || data?.startsWith("[") !== true) return null
  return { columns: elementTexts(columns).map(valueText), rows: elementTexts(data).map(elementTexts) }
}

/** What the client writes into the file of a run for what only the artifact of the table has. */
const mediaWord = /^"(?:Image|Audio|Video|Html|Object3D|Molecule|Plotly|Bokeh)"$/

export function hasMediaWords({ rows }: LoggedTable): boolean {
  return rows.some((row) => row.some((cell) => mediaWord.test(cell)))
}

/** A longer cell is cut: the whole of it is in its row. */
const longestCell = 500

/** In one line: of a chat what each message says, as trainers log prompts and completions. */
export function cellShown(value: JsonText | undefined): string {
  const text = valueText(value).slice(0, longestCell)
  if (value?.startsWith("[") !== true) return text
  const said = elementTexts(value).map((message) =>
    message.startsWith("{") ? memberTexts(message).get("content") : undefined,
  )
  const isChat = said.length > 0 && said.every((content) => content?.startsWith('"'))
  return isChat ? said.map(valueText).join(" · ").slice(0, longestCell) : text
}

/** NaN where it is no number. */
export function cellNumber(value: JsonText | undefined): number {
  return value !== undefined && /^-?\d/.test(value) ? Number(value) : NaN
}

/** The row as one object, for whoever looks at the whole of it. */
export function rowText({ columns }: LoggedTable, row: readonly JsonText[]): JsonText {
  const members = columns.map((name, place) => `${JSON.stringify(name)}: ${row[place] ?? "null"}`)
  return `{${members.join(", ")}}` as JsonText
}
