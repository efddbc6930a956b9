/** JSON texts with other blanks between their values: numbers keep the digits that they were written with. */

/** With a line for each member, for a person to change; what is no JSON comes as it is. */
export function indentedJson(text: string): string {
  return respaced(text, 2)
}

/** Without blanks. */
export function compactJson(text: string): string {
  return respaced(text)
}

function respaced(text: string, indent?: number): string {
  try {
    const exact: unknown = JSON.parse(text, (_, value: unknown, { source }: { source?: string }) =>
      typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value,
    )
    return JSON.stringify(exact, null, indent)
  } catch {
    // NaN and the infinities, which Python writes, are no JSON, and old browsers know no sources.
    return text
  }
}
