/** Values of parsed JSON whose form is not known. */

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A text as it is, any other value as JSON; "" for one that is absent or null. */
export function fieldText(value: unknown): string {
  if (value === undefined || value === null) return ""
  return typeof value === "string" ? value : JSON.stringify(value)
}
