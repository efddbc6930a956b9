/** Strings within a JSON text, whose escapes are not looked into. */

const backslash = 0x5c

/** Where the quote stands that ends the string whose first quote is at `start`; -1: nowhere. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
  return backslashes % 2 === 1
}
