import { createHash } from "node:crypto"

/** The same id for the same parts, so that work which is done again stores the same rows: a UUID of version 8. */
export function derivedId(...parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
