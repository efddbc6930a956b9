/** How many values a JSON text has, before anything is made of it: a few bytes of text may become many times their memory. */
import { endOfString } from "./json-string.ts"

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const openBrace = 0x7b

/** At least as many as the text has, and at most twice as many. Of text that is not JSON the answer says nothing. */
export function countValues(text: string): number {
  let count = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      if (at === -1) return count
    } else if (code === comma || code === openBracket || code === openBrace) count++
  }
  return count
}
