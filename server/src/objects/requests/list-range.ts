/** `limit` and `offset`: evaluation-store-objects 1. */
import { HeddleError } from "../../errors.ts"

export interface ListRange {
  /** null: all. */
  limit: number | null
  offset: number
}

/** @throws {HeddleError} `invalid_request` for negative ones. */
export function checkRange(body: { limit?: number | null | undefined; offset?: number | null | undefined }): ListRange {
  for (const name of ["limit", "offset"] as const) {
    const value = body[name] ?? 0
    if (value < 0) throw new HeddleError("invalid_request", `${name} must be 0 or more, not ${value}`)
  }
  return { limit: body.limit ?? null, offset: body.offset ?? 0 }
}
