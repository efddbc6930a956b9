/** The rows of a JSON tree: what is open of it, a page of children at a time. */
import type { JsonNode } from "./json-document.ts"

/** Children that are shown of an open container; the others are behind a row that shows more. */
export interface OpenPart {
  from: number
  children: readonly JsonNode[]
}

export type JsonRow =
  | { kind: "node"; depth: number; node: JsonNode; isOpen: boolean }
  /** Children before or after those that are shown. */
  | { kind: "more"; depth: number; container: JsonNode; from: number; count: number; isBefore: boolean }

export const pageSize = 100

export function isContainer({ kind, size }: JsonNode): boolean {
  return (kind === "object" || kind === "array") && size > 0
}

/** `open` has the open containers by their place; one that is not there is closed. */
export function rowsOf(root: JsonNode, open: ReadonlyMap<number, OpenPart>): JsonRow[] {
  const rows: JsonRow[] = []
  const add = (node: JsonNode, depth: number) => {
    const part = open.get(node.start)
    rows.push({ kind: "node", depth, node, isOpen: part !== undefined })
    if (part === undefined) return
    const { from, children } = part
    const after = from + children.length
    if (from > 0) {
      const count = Math.min(pageSize, from)
      rows.push({ kind: "more", depth: depth + 1, container: node, from: from - count, count, isBefore: true })
    }
    for (const child of children) add(child, depth + 1)
    if (after < node.size) {
      rows.push({
        kind: "more",
        depth: depth + 1,
        container: node,
        from: after,
        count: node.size - after,
        isBefore: false,
      })
    }
  }
  add(root, 0)
  return rows
}

/** The part with the page at `from` added before or behind it; a page that lies apart replaces it. */
export function withPage(part: OpenPart | undefined, from: number, children: readonly JsonNode[]): OpenPart {
  if (part === undefined) return { from, children }
  const end = part.from + part.children.length
  if (from === end) return { from: part.from, children: [...part.children, ...children] }
  if (from + children.length === part.from) return { from, children: [...children, ...part.children] }
  return { from, children }
}
