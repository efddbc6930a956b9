/** Members and elements of JSON text: found, put in and taken out without touching the rest (law 3). */
import { JsonCursor, stringOf } from "./json-cursor.ts"

/** A name and the JSON text of its value. */
export type JsonMember = readonly [name: string, text: string]

/** The members of an object's text in order; of a text that is no object none. */
export function membersOf(text: string): JsonMember[] {
  const cursor = new JsonCursor(text)
  if (cursor.kind() !== "object" || !cursor.enterObject()) return []
  const members: JsonMember[] = []
  do members.push([stringOf(cursor.key()), cursor.value()])
  while (cursor.nextMember())
  return members
}

/** The text of the object with these members. */
export function objectText(members: Iterable<JsonMember>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`
}

/** `members` at the end of the object `text`, in place of those of their names; in place of a text that is no object. */
export function withMembers(text: string, members: Readonly<Record<string, string>>): string {
  const added = Object.entries(members)
  if (added.length === 0) return text
  const isObject = text.trimStart().startsWith("{")
  if (isObject && !mayHaveMember(text, Object.keys(members))) return appended(text, added)
  const kept = membersOf(text).filter(([name]) => !Object.hasOwn(members, name))
  return objectText([...kept, ...added])
}

/** JSON spells it like this or with `\u`; another name may be spelled with an escape of its own, such as `\/`. */
const plainName = /^[\w .-]*$/

/** Quick, and sometimes yes for no: the name may stand anywhere, or be spelled with escapes. */
function mayHaveMember(text: string, names: readonly string[]): boolean {
  return text.includes("\\u") || names.some((name) => !plainName.test(name) || text.includes(`"${name}"`))
}

function appended(text: string, added: readonly JsonMember[]): string {
  const before = text.slice(0, text.lastIndexOf("}")).trimEnd()
  const separator = before.trimStart() === "{" ? "" : ","
  return `${before}${separator}${objectText(added).slice(1)}`
}

/** The object `text` without the members of these names. */
export function withoutMembers(text: string, names: readonly string[]): string {
  return objectText(membersOf(text).filter(([name]) => !names.includes(name)))
}

/** The text of the member `name` (the last one, as every reader takes it) of the object `text`; null: none, or no object. */
export function memberText(text: string, name: string): string | null {
  if (!mayHaveMember(text, [name])) return null
  return membersOf(text).findLast(([own]) => own === name)?.[1] ?? null
}

/** The texts of an array's elements in order; of a text that is no array none. */
export function elementsOf(text: string): string[] {
  const cursor = new JsonCursor(text)
  if (cursor.kind() !== "array" || !cursor.enterArray()) return []
  const elements: string[] = []
  do elements.push(cursor.value())
  while (cursor.nextElement())
  return elements
}

/** The text of the element `index` of the array `text`, from the end when negative; null: none, or no array. */
export function elementText(text: string, index: number): string | null {
  return elementsOf(text).at(index) ?? null
}

/** The text at a path of members; null: not there. */
export function textAt(text: string, path: readonly string[]): string | null {
  return path.reduce<string | null>((found, name) => (found === null ? null : memberText(found, name)), text)
}

/** `replacement` in place of the value at a path that is there; the order of members stays. */
export function withTextAt(text: string, path: readonly string[], replacement: string): string {
  const [name, ...rest] = path
  if (name === undefined) return replacement
  const members = membersOf(text).map(([own, value]): JsonMember => [
    own,
    own === name ? withTextAt(value, rest, replacement) : value,
  ])
  return objectText(members)
}
