/**
 * Attributes with dotted names as one nested object: `llm.messages.0.role` → `{llm: {messages: {0:
 * {role}}}}`. Clients choose the names, so the object is made of maps: `__proto__` and `constructor` are
 * names like any other, and a number in a name reserves no memory. A name that is also the beginning of
 * a longer one keeps its value, and the longer one stands beside it undivided: `{a: 1, "a.b": 2}`.
 */
import { JsonTextError } from "../../../json/json-text-error.ts"
import { withoutNotFinite } from "../../../json/json-parts.ts"
import { JsonScanner } from "../../../json/json-scanner.ts"
import { type AnyValue, jsonOfMembers, jsonOfValue, type KeyValue, KeyValueList } from "../otlp/any-value.ts"

const openBrace = 0x7b
const openBracket = 0x5b

export type AttributeTree = Map<string, AttributeNode>
export type AttributeNode = AttributeTree | Leaf

/** The value of one attribute. */
export class Leaf {
  readonly value: AnyValue

  constructor(value: AnyValue) {
    this.value = value
  }
}

/** Names with more parts than this are not taken apart further. */
const maximumParts = 32

/** A duplicate attribute keeps its last value. */
export function attributeTree(attributes: readonly KeyValue[]): AttributeTree {
  const root: AttributeTree = new Map()
  for (const { key, value } of attributes) place(root, key, value)
  return root
}

function place(root: AttributeTree, key: string, value: AnyValue): void {
  let node = root
  let rest = key
  for (let parts = 1; parts < maximumParts; parts++) {
    const dot = rest.indexOf(".")
    if (dot === -1) break
    const name = rest.slice(0, dot)
    const next = node.get(name)
    if (next instanceof Leaf) break
    if (next === undefined) {
      const made: AttributeTree = new Map()
      node.set(name, made)
      node = made
    } else node = next
    rest = rest.slice(dot + 1)
  }
  const taken = node.get(rest)
  node.set(rest, new Leaf(value))
  // The longer names came first: they move beside the shorter one.
  if (taken instanceof Map) for (const [name, child] of taken) graft(node, `${rest}.${name}`, child)
}

function graft(node: AttributeTree, name: string, child: AttributeNode): void {
  if (child instanceof Leaf) node.set(name, child)
  else for (const [inner, grandchild] of child) graft(node, `${name}.${inner}`, grandchild)
}

export interface TreeForm {
  /** Objects whose names are all numbers become arrays in the order of the numbers. */
  arrays: boolean
  /** Strings that hold a JSON object or array are printed as what they hold. */
  parsed: boolean
  /** Called when the JSON in a string sets `JsonScanner.sawUnreadable`. */
  onUnreadable?: () => void
}

/** Values as they came; only the names are nested. */
export const rawForm: TreeForm = { arrays: false, parsed: false }
/** As users of calls read it. */
export const readForm: TreeForm = { arrays: true, parsed: true }

export function jsonOfNode(node: AttributeNode, form: TreeForm): string {
  if (node instanceof Leaf) return form.parsed ? jsonOfRead(node.value, form) : jsonOfValue(node.value)
  if (form.arrays && node.size > 0 && [...node.keys()].every(isIndex)) {
    const elements = [...node].toSorted(([a], [b]) => Number(a) - Number(b))
    return `[${elements.map(([, child]) => jsonOfNode(child, form)).join(",")}]`
  }
  let text = ""
  for (const [name, child] of node)
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${jsonOfNode(child, form)}`
  return `{${text}}`
}

function isIndex(name: string): boolean {
  return /^(0|[1-9]\d{0,14})$/.test(name)
}

/** {@link jsonOfValue}, with the JSON that strings hold. */
function jsonOfRead(value: AnyValue, form: TreeForm): string {
  if (typeof value === "string") return heldJson(value, form) ?? JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((element) => jsonOfRead(element as AnyValue, form)).join(",")}]`
  if (value instanceof KeyValueList) return jsonOfMembers(value.entries, (inner) => jsonOfRead(inner, form))
  return jsonOfValue(value)
}

/** So deep that with the names of attributes around it, the whole stays within the depth that stored JSON may have. */
const maximumHeldDepth = 100

/** The object or array that the text is JSON of, as it is spelled (law 3); null: it is no such text. */
function heldJson(text: string, { onUnreadable }: TreeForm): string | null {
  const first = text.charCodeAt(0)
  if (first !== openBrace && first !== openBracket) return null
  try {
    const scanner = new JsonScanner(Buffer.from(text), maximumHeldDepth)
    scanner.skip()
    scanner.end()
    if (scanner.sawUnreadable) onUnreadable?.()
    return scanner.sawNotFinite ? withoutNotFinite(text) : text
  } catch (error) {
    if (error instanceof JsonTextError) return null
    throw error
  }
}
