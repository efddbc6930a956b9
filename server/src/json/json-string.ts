/** Strings within a JSON text, whose escapes are not looked into. */

const quote = 0x22
const backslash = 0x5c

/** Characters without an escape after which it is faster to search for the next quote than to look at each character. */
const patience = 32

/** Offset of the closing quote of the string that opens at `start`, or -1 if it never closes. */
export function endOfString(text: string, start: number): number {
  for (let at = start; ;) {
    at = text.indexOf('"', at + 1)
    if (at === -1 || !isEscaped(text, at)) return at
    // In a text of nothing but escaped quotes, searching for each of them takes ten times as long.
    for (let plain = 0; plain < patience; plain++) {
      const code = text.charCodeAt(++at)
      if (code === quote) return at
      if (Number.isNaN(code)) return -1
      if (code === backslash) {
        at++
        plain = -1
      }
    }
  }
}

/** A backslash that is itself escaped escapes nothing. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
  return backslashes % 2 === 1
}
