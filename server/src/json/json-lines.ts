/**
 * One JSON text as one line. The Python client splits lines as `str.splitlines` does, so that
 * U+0085, U+2028 and U+2029, which JSON allows in strings, would cut a record in two
 * (evaluation-store-calls 3.4). A raw line end of JSON text can only stand between its tokens.
 */
export function jsonLine(text: string): string {
  // Almost no text has one, and a replacement that finds nothing takes longer than a look.
  return `${lineBreak.test(text) ? text.replaceAll(everyLineBreak, replacementOf) : text}\n`
}

const lineBreak = /[\n\r\u0085\u2028\u2029]/
const everyLineBreak = new RegExp(lineBreak, "g")

function replacementOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 ? " " : `\\u${code.toString(16).padStart(4, "0")}`
}
