/** Strings of a tree that do not fit into a row: they open like an object does, and what they say stands below their row. */
import type { JsonNode } from "./json-document.ts"
import type { JsonRow } from "./json-tree.ts"

export interface TextRow {
  kind: "text"
  node: JsonNode
  depth: number
}

/** True when its row does not show the whole of it as it was written. */
export function isLongText({ kind, preview, isCut }: JsonNode): boolean {
  return kind === "string" && (isCut || /[\n\r]/.test(preview))
}

/** The rows, and below those whose strings are open, by where these begin, what the strings say. */
export function withTexts(rows: readonly JsonRow[], open: ReadonlySet<number>): (JsonRow | TextRow)[] {
  return rows.flatMap((row): (JsonRow | TextRow)[] =>
    row.kind === "node" && open.has(row.node.start) && isLongText(row.node)
      ? [row, { kind: "text", node: row.node, depth: row.depth + 1 }]
      : [row],
  )
}

/** In one line, with a sign where a line ends. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\r]/g, "↵ ").replaceAll("\t", " ")
}

/** A browser lays out no more text at once without keeping people waiting. */
const mostShown = 200_000

/** What a string of a JSON text says. `isWhole`: nothing was left out. */
export function textOf(
  json: string,
  { start, end }: Pick<JsonNode, "start" | "end">,
): { text: string; isWhole: boolean } {
  const literal = json.slice(start, end)
  let text = literal
  try {
    text = JSON.parse(literal) as string
  } catch {
    // As it is written.
  }
  return { text: text.slice(0, mostShown), isWhole: text.length <= mostShown }
}
