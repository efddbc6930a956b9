/** Counts of tokens that one attribute holds together, as JSON: evaluation-store-calls 8. */
import { membersOf } from "../../../json/json-members.ts"
import { firstFound, pathsOf } from "./attribute-lookup.ts"
import { heldCountNames, heldCountsName, heldParts } from "./attribute-names.ts"
import { type AttributeTree, attributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const paths = pathsOf([heldCountsName])

/** The counts of such an attribute as one more tree, under the names by which others send them. */
export function heldCounts(trees: readonly AttributeTree[]): AttributeTree[] {
  const found = firstFound(trees, paths)
  if (found === null) return []
  const counts = new Map(countsIn(jsonOfNode(found.node, readForm), ""))
  addParts(counts)
  const known = [...counts].filter(([name]) => Object.hasOwn(heldCountNames, name))
  return [attributeTree(known.map(([name, value]) => ({ key: heldCountNames[name] as string, value })))]
}

/** `text`: JSON. A number's digits are as good as the number to readers of counts. */
function countsIn(text: string, around: string): [name: string, digits: string][] {
  return membersOf(text).flatMap(([member, value]): [string, string][] => {
    const name = `${around}${member}`
    return value.startsWith("{") ? countsIn(value, `${name}.`) : [[name, value]]
  })
}

/**
 * Langfuse's clients count a token once: `input` is without those that a name like `input_cached_tokens` counts. To prices, and
 * under the names of others, the whole has its parts in it. A total of `input` and `output` alone says that these have them already.
 */
function addParts(counts: Map<string, string>): void {
  const countOf = (name: string) => wholeNumber(counts.get(name))
  if (counts.has("total") && countOf("total") === countOf("input") + countOf("output")) return
  for (const [side, part] of Object.entries(heldParts)) {
    if (!counts.has(side)) continue
    const parts = [...counts.keys()].filter((name) => part.test(name))
    if (parts.length > 0)
      counts.set(side, String(parts.map(countOf).reduce((sum, count) => sum + count, countOf(side))))
  }
}

function wholeNumber(text = ""): bigint {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : 0n
}
