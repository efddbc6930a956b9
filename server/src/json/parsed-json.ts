/** Values of JSON whose form is not known yet. */

/** Whether a value of `JSON.parse` or `parseExact` is an object; a number that `parseExact` keeps as it came is not one. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
}

/** The value, or null for a text that is no JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
