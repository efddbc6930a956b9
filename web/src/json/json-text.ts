/**
 * Cuts JSON into the texts of its members, and parses only those that are shown. A payload may hold integers past 2^53,
 * and `1.0` beside `1`, which parsing would lose; and it may have 60 MB, of which a page shows one line.
 */
import { endOfString, endOfValue, isClosing, isComma, skipBlanks } from "./json-cursor.ts"

declare const jsonText: unique symbol
/** The text of one JSON value, as the server sent it. */
export type JsonText = string & { readonly [jsonText]: true }

/** The members of an object, by name. The last member counts when a name comes twice, as with `JSON.parse`. */
export function memberTexts(text: string): Map<string, JsonText> {
  const members = new Map<string, JsonText>()
  for (let at = skipBlanks(text, skipBlanks(text, 0) + 1); !isClosing(text.charCodeAt(at)) && at < text.length;) {
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    // Behind the colon.
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1)
    const end = endOfValue(text, start)
    members.set(name, text.slice(start, end) as JsonText)
    at = skipBlanks(text, end)
    if (isComma(text.charCodeAt(at))) at = skipBlanks(text, at + 1)
  }
  return members
}

/** The elements of an array. */
export function elementTexts(text: string): JsonText[] {
  const elements: JsonText[] = []
  for (let at = skipBlanks(text, skipBlanks(text, 0) + 1); !isClosing(text.charCodeAt(at)) && at < text.length;) {
    const end = endOfValue(text, at)
    elements.push(text.slice(at, end) as JsonText)
    at = skipBlanks(text, end)
    if (isComma(text.charCodeAt(at))) at = skipBlanks(text, at + 1)
  }
  return elements
}

/**
 * Parses a record, except for its members in `kept`, which stay text.
 * @throws {SyntaxError} for a line that is not JSON.
 */
export function readRecord<Shape, Kept extends keyof Shape & string>(
  text: string,
  kept: readonly Kept[],
): Omit<Shape, Kept> & Record<Kept, JsonText> {
  const keptNames: ReadonlySet<string> = new Set(kept)
  const entries = [...memberTexts(text)].map(([name, value]) => [
    name,
    keptNames.has(name) ? value : (JSON.parse(value) as unknown),
  ])
  return Object.fromEntries(entries) as Omit<Shape, Kept> & Record<Kept, JsonText>
}
