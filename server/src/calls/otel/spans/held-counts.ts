/** Counts of tokens that one attribute holds together, as JSON: evaluation-store-calls 8. */
import { membersOf } from "../../../json/json-members.ts"
import type { KeyValue } from "../otlp/any-value.ts"
import { firstFound, pathsOf } from "./attribute-lookup.ts"
import { heldCountNames, heldCountsName, heldSides } from "./attribute-names.ts"
import { type AttributeTree, attributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const paths = pathsOf([heldCountsName])

/** The counts of such an attribute as one more tree, under the names by which others send them. */
export function heldCounts(trees: readonly AttributeTree[]): AttributeTree[] {
  const found = firstFound(trees, paths)
  if (found === null) return []
  const json = jsonOfNode(found.node, readForm)
  return [attributeTree([...countsIn(json, ""), ...sidesOf(json)])]
}

/**
 * Langfuse's own `input` and `output` leave out what `input_…` and `output_…` count apart, and others' names of tokens of a
 * cache too: a side is the sum.
 */
function sidesOf(json: string): KeyValue[] {
  const members = membersOf(json).filter(([, value]) => /^\d{1,15}$/.test(value))
  const own = new Map(members)
  return heldSides.flatMap(({ name, apart, key }) => {
    if (!own.has(name)) return []
    const counts = members.flatMap(([member, value]) => (member === name || apart.test(member) ? [BigInt(value)] : []))
    return [{ key, value: counts.reduce((sum, count) => sum + count) }]
  })
}

/** `text`: JSON. A number's digits are as good as the number to readers of counts. */
function countsIn(text: string, around: string): KeyValue[] {
  return membersOf(text).flatMap(([member, value]) => {
    const name = `${around}${member}`
    if (value.startsWith("{")) return countsIn(value, `${name}.`)
    return Object.hasOwn(heldCountNames, name) ? [{ key: heldCountNames[name] as string, value }] : []
  })
}
