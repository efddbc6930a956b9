/** A dataset is an object whose `rows` name a table. */
import { type JsonText, memberTexts } from "../json/json-text.ts"
import { readRef } from "./object-refs.ts"

/** The digest of the table in the same project; null: the value has no such table. */
export function tableOfDataset(val: JsonText, projectId: string): string | null {
  if (!val.trimStart().startsWith("{")) return null
  const rows = memberTexts(val).get("rows")
  if (rows === undefined || !rows.startsWith('"')) return null
  const ref = readRef(JSON.parse(rows) as string)
  if (ref?.kind !== "table" || `${ref.entity}/${ref.project}` !== projectId) return null
  return ref.name
}
