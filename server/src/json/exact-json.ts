/**
 * JSON whose numbers keep their spelling (law 3): `1.0`, `1e3` and integers past 2^53, which
 * `JSON.parse` would change, stay as they came through `JSON.stringify`.
 */

declare global {
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string }
    isRawJSON(value: unknown): value is { readonly rawJSON: string }
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  }
}

/** Whether `JSON.parse` may change a number of this text; it also says yes to some texts that it leaves alone. */
export function mayChangeNumbers(text: string): boolean {
  return inexact.test(text)
}

/** A trailing zero of a fraction, a fraction that begins with six zeros, an exponent, more digits than a double holds, minus zero. */
const inexact = /\.\d*0(?!\d)|\.0{6}|\d[eE][-+\d]|[\d.]{16}|-0(?![.\d])/

/** As `JSON.parse`, but a number whose spelling would change becomes an opaque value that `JSON.stringify` writes as it came. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && source !== String(value) ? JSON.rawJSON(source) : value,
  )
}

/** Whether there is any number in a parsed value. */
export function holdsNumber(value: unknown): boolean {
  if (typeof value === "number") return true
  return typeof value === "object" && value !== null && Object.values(value).some(holdsNumber)
}

/** A whole number of a value that {@link parseExact} gave. */
export function exactInteger(value: unknown): bigint {
  const text = JSON.isRawJSON(value) ? value.rawJSON : String(value)
  return BigInt(/^-?\d+$/.test(text) ? text : Number(text))
}
