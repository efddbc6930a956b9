/** How deep a JSON text nests, before anything is made of it: what is built of a deep value is built by recursion, here and in the engine. */

const quote = 0x22
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Whether containers are nested in more than `maximum` levels. Of text that is not JSON the answer says nothing. */
export function isNestedDeeper(text: string, maximum: number): boolean {
  if (text.length <= 2 * maximum) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at + 1)
      if (at === -1) return false
    } else if (code === openBrace || code === openBracket) {
      if (++depth > maximum) return true
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return false
}

/** Where the quote stands that ends the string; -1: nowhere. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
  return backslashes % 2 === 1
}
