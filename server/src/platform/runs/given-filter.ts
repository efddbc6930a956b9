/** The argument `filters` of a list, which the client sends as text. */
import { HeddleError } from "../../errors.ts"

/** null: all of the list. @throws {HeddleError} `bad_query`. */
export function filterOf(filters: unknown): unknown {
  if (filters === undefined || filters === null || filters === "") return null
  if (typeof filters !== "string") return filters
  try {
    return JSON.parse(filters)
  } catch (cause) {
    throw new HeddleError("bad_query", "filters is not JSON", { cause })
  }
}
