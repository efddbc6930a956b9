/** JSON texts with other blanks between their values: numbers keep the digits that they were written with. */
import { parseExact } from "./exact-json.ts"

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
    return JSON.stringify(parseExact(text), null, indent)
  } catch {
    // NaN and the infinities, which Python writes, are no JSON.
    return text
  }
}
