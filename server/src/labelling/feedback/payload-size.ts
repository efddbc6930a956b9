/** How large the payload of feedback may be: evaluation-store-objects 2.3. */
import { HeddleError } from "../../errors.ts"

/** Characters of the JSON text. */
const longestPayload = 1_048_576

/** @throws {HeddleError} `invalid_request`. */
export function checkPayloadSize(text: string): void {
  if (text.length <= longestPayload) return
  throw new HeddleError(
    "invalid_request",
    `Feedback payload too large: ${text.length} characters, at most ${longestPayload}`,
  )
}
