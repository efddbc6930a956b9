/** Puts a member into the text of a JSON object without touching the rest of it (law 3). */
import { JsonCursor, stringOf } from "./json-cursor.ts"

/** The members of an object's text in order; of a text that is no object none. */
export function membersOf(text: string): { name: string; value: string }[] {
  const cursor = new JsonCursor(text)
  if (cursor.kind() !== "object" || !cursor.enterObject()) return []
  const members: { name: string; value: string }[] = []
  do members.push({ name: stringOf(cursor.key()), value: cursor.value() })
  while (cursor.nextMember())
  return members
}

/** `members` at the end of the object `text`, in place of those of their names; in place of a text that is no object. */
export function withMembers(text: string, members: Readonly<Record<string, string>>): string {
  const added = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  if (added.length === 0) return text
  if (!mayHaveMember(text, Object.keys(members))) return appended(text, added)
  const kept = membersOf(text)
    .filter(({ name }) => !Object.hasOwn(members, name))
    .map(({ name, value }) => `${JSON.stringify(name)}:${value}`)
  return `{${[...kept, ...added].join(",")}}`
}

/** Quick, and sometimes yes for no: the name may stand anywhere, or be spelled with escapes. */
function mayHaveMember(text: string, names: readonly string[]): boolean {
  return !text.trimStart().startsWith("{") || text.includes("\\u") || names.some((name) => text.includes(`"${name}"`))
}

function appended(text: string, added: readonly string[]): string {
  const end = text.lastIndexOf("}")
  const before = text.slice(0, end).trimEnd()
  return `${before}${before.trimStart() === "{" ? "" : ","}${added.join(",")}}`
}

/** The object `text` without the members of these names. */
export function withoutMembers(text: string, names: readonly string[]): string {
  const kept = membersOf(text).filter(({ name }) => !names.includes(name))
  return `{${kept.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join(",")}}`
}

/** The text at a path of members; null: not there. */
export function textAt(text: string, path: readonly string[]): string | null {
  const [name, ...rest] = path
  if (name === undefined) return text
  const member = membersOf(text).findLast((one) => one.name === name)
  return member === undefined ? null : textAt(member.value, rest)
}

/** `replacement` in place of the value at a path that is there; the order of members stays. */
export function withTextAt(text: string, path: readonly string[], replacement: string): string {
  const [name, ...rest] = path
  if (name === undefined) return replacement
  const members = membersOf(text).map((one) => {
    const value = one.name === name ? withTextAt(one.value, rest, replacement) : one.value
    return `${JSON.stringify(one.name)}:${value}`
  })
  return `{${members.join(",")}}`
}
