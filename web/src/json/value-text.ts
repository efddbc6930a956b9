/** Of a value's JSON: a text without its quotes, anything else as it is written; "" for none. */
export function valueText(value: string | undefined | null): string {
  if (value == null) return ""
  return value.startsWith('"') ? (JSON.parse(value) as string) : value
}
