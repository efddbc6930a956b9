/** Walks over JSON text without parsing it: where a value ends, and what kind it is. The text is taken to be valid. */

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null"

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

export function skipBlanks(text: string, at: number): number {
  let here = at
  while (text.charCodeAt(here) <= 0x20) here += 1
  return here
}

export function kindAt(text: string, at: number): JsonKind {
  switch (text.charCodeAt(at)) {
    case openBrace:
      return "object"
    case openBracket:
      return "array"
    case quote:
      return "string"
    case 0x74: // t
    case 0x66: // f
      return "boolean"
    case 0x6e: // n
      return "null"
    default:
      return "number"
  }
}

export function isOpening(code: number): boolean {
  return code === openBrace || code === openBracket
}

export function isClosing(code: number): boolean {
  return code === closeBrace || code === closeBracket
}

export function isQuote(code: number): boolean {
  return code === quote
}

export function isComma(code: number): boolean {
  return code === comma
}

/** `at` is the opening quote; the answer is behind the closing one. */
export function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, at: number): boolean {
  let count = 0
  while (text.charCodeAt(at - 1 - count) === backslash) count += 1
  return count % 2 === 1
}

/** End of a number, `true`, `false` or `null`. */
export function endOfScalar(text: string, at: number): number {
  let here = at
  for (let code = text.charCodeAt(here); code > 0x20 && code !== comma && !isClosing(code);) {
    here += 1
    code = text.charCodeAt(here)
  }
  return here
}

/** End of any value. */
export function endOfValue(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === quote) return endOfString(text, at)
  return isOpening(code) ? endOfContainer(text, at) : endOfScalar(text, at)
}

function endOfContainer(text: string, at: number): number {
  let depth = 0
  for (let here = at; here < text.length; here += 1) {
    const code = text.charCodeAt(here)
    if (code === quote) here = endOfString(text, here) - 1
    else if (isOpening(code)) depth += 1
    else if (isClosing(code) && --depth === 0) return here + 1
  }
  return text.length
}
