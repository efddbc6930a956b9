/** Finds attributes by their dotted names in trees of them. */
import { JsonCursor } from "../../../json/json-cursor.ts"
import { KeyValueList } from "../otlp/any-value.ts"
import { namesApart } from "./attribute-names.ts"
import { type AttributeNode, type AttributeTree, jsonOfNode, Leaf, readForm } from "./attribute-tree.ts"

/** A name and its parts, cut once. */
export interface AttributePath {
  name: string
  parts: readonly string[]
}

export function pathsOf(names: readonly string[]): AttributePath[] {
  return names.map((name) => ({ name, parts: name.split(".") }))
}

export interface Found {
  name: string
  node: AttributeNode
}

/** The first of the paths that stands in one of the trees and is not empty; an earlier tree comes before a later one. */
export function firstFound(trees: readonly AttributeTree[], paths: readonly AttributePath[]): Found | null {
  for (const tree of trees) {
    for (const { name, parts } of paths) {
      const node = nodeAt(tree, parts)
      if (node !== undefined && !isEmpty(node)) return { name, node }
    }
  }
  return null
}

export function nodeAt(tree: AttributeTree, parts: readonly string[]): AttributeNode | undefined {
  let node: AttributeNode = tree
  for (let index = 0; index < parts.length; index++) {
    if (node instanceof Leaf) return undefined
    const next = node.get(parts[index] as string)
    if (next === undefined) return undefined
    if (next instanceof Leaf && index < parts.length - 1) {
      const rest = parts.slice(index + 1)
      // The shorter name has a value of its own, and the longer one stands beside it.
      return node.get([parts[index], ...rest].join(".")) ?? inside(next, rest)
    }
    node = next
  }
  return node instanceof Leaf ? node : without(node, parts)
}

/** A value that is a list of attributes is looked into like names with dots. */
function inside({ value }: Leaf, parts: readonly string[]): Leaf | undefined {
  const [part, ...rest] = parts
  if (part === undefined) return new Leaf(value)
  const entry = value instanceof KeyValueList ? value.entries.find(({ key }) => key === part) : undefined
  return entry === undefined ? undefined : inside(new Leaf(entry.value), rest)
}

function without(node: AttributeTree, parts: readonly string[]): AttributeTree {
  const name = parts.join(".")
  const apart = [...node.keys()].filter((key) => namesApart.has(`${name}.${key}`))
  return apart.length === 0 ? node : new Map([...node].filter(([key]) => !apart.includes(key)))
}

function isEmpty(node: AttributeNode): boolean {
  if (!(node instanceof Leaf)) return node.size === 0
  const { value } = node
  if (value instanceof KeyValueList) return value.entries.length === 0
  return value === null || value === "" || (Array.isArray(value) && value.length === 0)
}

/** A string as it is, anything else as its JSON; null: not found. */
export function textOf(found: Found | null): string | null {
  if (found === null) return null
  const { node } = found
  return node instanceof Leaf && typeof node.value === "string" ? node.value : jsonOfNode(node, readForm)
}

/** A whole number, also as a double or in digits, in digits; null: none, or more than 64 bits. */
export function integerOf(found: Found | null): string | null {
  const value = found?.node instanceof Leaf ? found.node.value : null
  if (typeof value === "bigint") return String(value)
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return null
  return BigInt(value) === BigInt.asIntN(64, BigInt(value)) ? String(BigInt(value)) : null
}

/** Whether it says yes: anything but false, 0 and their spellings. */
export function isTrue(found: Found | null): boolean {
  const text = textOf(found)
  return text !== null && !/^(false|0|0\.0|no|off)$/i.test(text)
}

export function isObjectText(text: string): boolean {
  return new JsonCursor(text).kind() === "object"
}
