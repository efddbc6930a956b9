/**
 * Takes a provider's key out of what the provider says, before anyone sees or stores it. Services repeat the key they were
 * given in messages, as it is, in an encoding or shortened, and the member who asks may not know it.
 */

const placeholder = "<key>"

/** Shorter ones are words such as `none` or `EMPTY`, which endpoints without keys are given and answers are full of. */
const shortestSecret = 8

/** Masks the middle of a key: `sk-proj-****abcd`, `sk-proj-…`. Bounded, so that a page of stars takes no time. */
const mask = String.raw`(?:[*•·…]|\\u20(?:22|26)|\.{3}){1,400}`
const startOfMask = "(?<![*•·….])"

export function keyMask(key: string): (text: string) => string {
  // Also without a key.
  if (key.length < shortestSecret) return (text) => text
  const pattern = new RegExp([...shortened(key), ...inBase64(key)].join("|"), "g")
  return (text) => text.replaceAll(pattern, placeholder)
}

/** Patterns of the key, of a beginning that is most of it, and of a beginning or an end beside a mask. */
function shortened(key: string): string[] {
  const units = Array.from(key, spellings)
  const beginning = (least: number) =>
    units.slice(0, least).join("") + units.slice(least).reduceRight((rest, unit) => `(?:${unit}${rest})?`, "")
  const end = (least: number) => {
    const lengths = Array.from({ length: longestEnd - least + 1 }, (_, index) => longestEnd - index)
    return `(?:${lengths.map((length) => units.slice(-length).join("")).join("|")})`
  }
  return [
    `${beginning(3)}${mask}${end(2)}`,
    `${beginning(8)}${mask}`,
    `${startOfMask}${mask}${end(4)}`,
    beginning(Math.min(units.length, Math.max(12, Math.ceil(units.length / 2)))),
  ]
}

const longestEnd = 8

/** A character as it is, in JSON, in an address. */
function spellings(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0")
  const anyCase = hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const plain = RegExp.escape(character)
  // JSON inside a text of JSON has its backslashes twice.
  const escaped = `\\\\{1,4}(?:${/["\\/]/.test(character) ? `${plain}|` : ""}u00${anyCase})`
  return `(?:${plain}|${escaped}|%${anyCase})`
}

/**
 * Base64 writes three bytes as four characters, so a key looks different behind a text of any other length. Of each of the
 * three ways, the characters that the key alone decides.
 */
function inBase64(key: string): string[] {
  return [0, 1, 2].map((ahead) => {
    const bits = 8 * (ahead + key.length)
    const text = Buffer.from("\0".repeat(ahead) + key, "latin1").toString("base64")
    const own = text.slice(Math.ceil((8 * ahead) / 6), Math.floor(bits / 6))
    return `${own.replaceAll("+", "[+-]").replaceAll("/", String.raw`(?:_|\\?\/)`)}[A-Za-z0-9+/_=-]?`
  })
}
