/** The ids that a purge names: evaluation-store-objects 5 and 8. For safety, nothing but ids says what is purged. */
import { HeddleError } from "../../errors.ts"
import type { Operand } from "../../wire/queries/query.ts"

/**
 * Reads them from `$eq` on id, `$in` on id where it is allowed, or `$or` of such.
 * @throws {HeddleError} `invalid_request` for anything else; `what` is the plural of the thing.
 */
export function idsToPurge(expression: Operand, what: "feedback" | "costs", allowed: { in: boolean }): string[] {
  const { $or } = expression
  const ids = $or === undefined ? idsOf(expression, allowed) : allOf($or.map((operand) => idsOf(operand, allowed)))
  if (ids === null || ids.length === 0) {
    throw new HeddleError("invalid_request", `Can only purge ${what} by specifying one or more ${singular[what]} ids`)
  }
  return ids
}

const singular = { feedback: "feedback", costs: "cost" } as const

function idsOf({ $eq, $in }: Operand, allowed: { in: boolean }): string[] | null {
  if ($eq !== undefined) {
    const [left, right] = $eq
    return isId(left) ? allOf([literalText(right)]) : null
  }
  if ($in === undefined || !allowed.in) return null
  const [operand, candidates] = $in
  return isId(operand) ? allOf(candidates.map(literalText)) : null
}

const isId = ({ $getField }: Operand) => $getField === "id"

function literalText({ $literal }: Operand): string[] | null {
  return typeof $literal === "string" ? [$literal] : null
}

function allOf(lists: readonly (string[] | null)[]): string[] | null {
  return lists.includes(null) ? null : lists.flatMap((list) => list ?? [])
}
