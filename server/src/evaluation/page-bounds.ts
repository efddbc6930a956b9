/** `limit` and `offset` of the evaluation store's lists: evaluation-store-objects 1. */
import { HeddleError } from "../errors.ts"

/** @throws {HeddleError} `value_error` when one is negative. */
export function checkPage(page: { limit?: number | null | undefined; offset?: number | null | undefined }): void {
  for (const name of ["limit", "offset"] as const) {
    const value = page[name] ?? 0
    if (value < 0) throw new HeddleError("value_error", `${name} must be 0 or more, not ${value}`)
  }
}
