/** JSON values cut to a size that a model can read: long texts, lists and nests end with a mark that says what is missing. */

interface Level {
  /** Longest text, list or object, and deepest nest, that stay whole. */
  text: number
  items: number
  depth: number
}

/** From the gentlest on; the last fits any value into some hundred characters. */
const levels: readonly Level[] = [
  { text: 8000, items: 200, depth: 20 },
  { text: 2000, items: 60, depth: 12 },
  { text: 800, items: 30, depth: 8 },
  { text: 300, items: 15, depth: 6 },
  { text: 120, items: 8, depth: 5 },
  { text: 60, items: 5, depth: 4 },
  { text: 40, items: 3, depth: 2 },
]

interface Shortened {
  value: unknown
  isShortened: boolean
}

/** @param most characters of the value's JSON text. */
export function shorten(value: unknown, most: number): Shortened {
  if (sizeOf(value) <= most) return { value, isShortened: false }
  for (const level of levels) {
    const cut = cutTo(value, level, 0)
    if (sizeOf(cut) <= most) return { value: cut, isShortened: true }
  }
  return { value: lastResort(value), isShortened: true }
}

export function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

/** No half of a character stays at the end. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")
}

function cutTo(value: unknown, level: Level, depth: number): unknown {
  if (typeof value === "string") return cutText(value, level.text)
  // A number that keeps its spelling is an object, and no part of it may go.
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return value
  if (depth >= level.depth) return markOf(value)
  if (Array.isArray(value)) {
    const kept = value.slice(0, level.items).map((item) => cutTo(item, level, depth + 1))
    return value.length > level.items ? [...kept, `[${value.length - level.items} more items]`] : kept
  }
  const members = Object.entries(value)
  const kept = members.slice(0, level.items).map(([name, member]) => [name, cutTo(member, level, depth + 1)] as const)
  const rest = members.length - kept.length
  return Object.fromEntries(rest === 0 ? kept : [...kept, ["…", `[${rest} more members]`]])
}

function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = beginningOf(text, most)
  return `${kept}… [${text.length - kept.length} more characters]`
}

/** Of the same kind as the value: whoever reads members of it finds none, and what is said in their place. */
function lastResort(value: unknown): unknown {
  if (Array.isArray(value)) return [markOf(value)]
  return typeof value === "object" && value !== null ? { "…": markOf(value) } : markOf(value)
}

function markOf(value: unknown): string {
  if (Array.isArray(value)) return `[a list of ${value.length} items]`
  if (typeof value === "object" && value !== null) return `[an object of ${Object.keys(value).length} members]`
  return `[a text of ${String(value).length} characters]`
}
