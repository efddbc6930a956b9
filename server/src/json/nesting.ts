/** How deep a JSON text nests, before anything is made of it: what is built of a deep value is built by recursion, here and in the engine. */
import { endOfString } from "./json-string.ts"

const quote = 0x22
const openBracket = 0x5b
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
      at = endOfString(text, at)
      if (at === -1) return false
    } else if (code === openBrace || code === openBracket) {
      if (++depth > maximum) return true
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return false
}
