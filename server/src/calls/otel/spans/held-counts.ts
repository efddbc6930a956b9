/** Counts of tokens that one attribute holds together, as JSON: evaluation-store-calls 8. */
import { membersOf } from "../../../json/json-members.ts"
import type { KeyValue } from "../otlp/any-value.ts"
import { firstFound, pathsOf } from "./attribute-lookup.ts"
import { heldCountNames, heldCountsName } from "./attribute-names.ts"
import { type AttributeTree, attributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const paths = pathsOf([heldCountsName])

/** The counts of such an attribute as one more tree, under the names by which others send them. */
export function heldCounts(trees: readonly AttributeTree[]): AttributeTree[] {
  const found = firstFound(trees, paths)
  return found === null ? [] : [attributeTree(countsIn(jsonOfNode(found.node, readForm), ""))]
}

/** `text`: JSON. A number's digits are as good as the number to readers of counts. */
function countsIn(text: string, around: string): KeyValue[] {
  return membersOf(text).flatMap(([member, value]) => {
    const name = `${around}${member}`
    if (value.startsWith("{")) return countsIn(value, `${name}.`)
    return Object.hasOwn(heldCountNames, name) ? [{ key: heldCountNames[name] as string, value }] : []
  })
}
