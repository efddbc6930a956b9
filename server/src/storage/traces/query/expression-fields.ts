import type { Operand } from "../../../wire/queries/query.ts"

/** Every path that an expression names. */
export function fieldsOf(expression: Operand): string[] {
  return fieldsIn(expression)
}

function fieldsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return []
  const { $getField, $literal: _literal, ...inner } = value as Operand
  return [...($getField === undefined ? [] : [$getField]), ...Object.values(inner).flatMap(fieldsIn)]
}
