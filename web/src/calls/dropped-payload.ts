/** A payload that the server had no room for: it stores this instead, as the Weave SDK knows it. */
import type { JsonText } from "../json/json-text.ts"

/** Largest row of a call: contract, evaluation-store-calls 2.3. */
export const largestRow = "3.5 MiB"

export function isDroppedPayload(text: JsonText): boolean {
  return text.length < 100 && /"_weave"\s*:\s*\{\s*"error"\s*:\s*"<EXCEEDS_LIMITS>"/.test(text)
}
