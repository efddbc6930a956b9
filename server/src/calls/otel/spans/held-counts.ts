/** Counts of tokens that one attribute holds together, as JSON: evaluation-store-calls 8. */
import { membersOf } from "../../../json/json-members.ts"
import type { KeyValue } from "../otlp/any-value.ts"
import { firstFound, pathsOf } from "./attribute-lookup.ts"
import { heldCountNames } from "./attribute-names.ts"
import { type AttributeTree, attributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const paths = pathsOf(heldCountNames)

/** The first such attribute of the trees as one more tree, in which its counts have names of their own. */
export function heldCounts(trees: readonly AttributeTree[]): AttributeTree[] {
  const found = firstFound(trees, paths)
  return found === null ? [] : [attributeTree(namesWithin(found.name, jsonOfNode(found.node, readForm)))]
}

/** `text`: JSON. A number's digits are as good as the number to who reads a count. */
function namesWithin(name: string, text: string): KeyValue[] {
  return membersOf(text).flatMap(([member, value]) => {
    const key = `${name}.${member}`
    return value.startsWith("{") ? namesWithin(key, value) : [{ key, value }]
  })
}
