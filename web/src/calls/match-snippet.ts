/** A line of text with the words that were looked for, cut so that the first of them is seen. */

export interface SnippetPart {
  text: string
  isMatch: boolean
}

/** So much stands before the first match. */
const before = 24

/** `preview` is what is shown of a payload; a match that it lacks is shown from the whole `payload`. */
export function matchSnippet(preview: string, payload: string, words: readonly string[]): SnippetPart[] {
  const wanted = words.filter((word) => word !== "")
  if (wanted.length === 0) return [{ text: preview, isMatch: false }]
  const pattern = new RegExp(wanted.map((word) => RegExp.escape(word)).join("|"), "gi")
  const hasMatch = preview.search(pattern) !== -1
  const source = hasMatch || payload.search(pattern) === -1 ? preview : payload
  const first = source.search(pattern)
  if (first === -1) return [{ text: preview, isMatch: false }]
  const from = first > before ? first - before : 0
  // It begins with a whole word, where one begins before the match.
  const cut = from === 0 ? -1 : source.slice(from, first).search(/\s\S/)
  const line = source.slice(from + cut + 1, first + 300).replaceAll(/\s+/g, " ")
  const parts: SnippetPart[] = first > before ? [{ text: "… ", isMatch: false }] : []
  let end = 0
  for (const match of line.matchAll(pattern)) {
    if (match.index > end) parts.push({ text: line.slice(end, match.index), isMatch: false })
    parts.push({ text: match[0], isMatch: true })
    end = match.index + match[0].length
  }
  if (end < line.length) parts.push({ text: line.slice(end), isMatch: false })
  return parts
}
