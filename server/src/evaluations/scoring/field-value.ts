/** The value that a rule looks at: a field of a call, by its path. */
import { HeddleError } from "../../errors.ts"
import { mayChangeNumbers, parseExact } from "../../json/exact-json.ts"
import { elementText, memberText } from "../../json/json-members.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import type { CallColumn, CallRow } from "../../storage/traces/calls/call-row-reads.ts"

const payloads = ["inputs", "output", "attributes", "summary"] as const
const plain = ["exception", "op_name", "display_name", "started_at", "ended_at"] as const

/** What a rule may look at of a call. */
export const scoredColumns: readonly CallColumn[] = [...payloads, "exception", "display_name", "ended_at"]

export interface FieldPath {
  column: (typeof payloads)[number] | (typeof plain)[number]
  keys: readonly string[]
}

/** `output.choices.0.message`: a column, and names and places within it. @throws {HeddleError} 400 */
export function fieldPath(field: string): FieldPath {
  const [first = "", ...keys] = field.split(".")
  const payload = payloads.find((name) => name === first)
  if (payload !== undefined && !keys.includes("")) return { column: payload, keys }
  const column = plain.find((name) => name === first)
  if (column !== undefined && keys.length === 0) return { column, keys }
  throw new HeddleError(
    "value_error",
    `"${field}" is no field of a call: ${[...payloads, ...plain].join(", ")}, and within the first four names and places behind dots, such as output.choices.0.message.content`,
  )
}

/** undefined: the call has no such field. */
export function valueIn(row: CallRow, { column, keys }: FieldPath): unknown {
  const stored = row[column] ?? null
  if (stored === null) return undefined
  if (plain.some((name) => name === column)) return stored
  let value: unknown = tryParse(stored)
  for (const key of keys) value = member(value, key)
  return value ?? undefined
}

/** JSON text of {@link valueIn}, its numbers as they were spelled. */
export function jsonIn(row: CallRow, { column, keys }: FieldPath): string | undefined {
  const stored = row[column] ?? null
  if (stored === null) return undefined
  if (plain.some((name) => name === column)) return JSON.stringify(stored)
  const found = keys.reduce<string | null>((text, key) => (text === null ? null : memberJson(text, key)), stored)
  return found === null || found === "null" ? undefined : found
}

/** {@link valueIn}, its numbers as they were spelled. */
export function exactIn(row: CallRow, path: FieldPath): unknown {
  const json = jsonIn(row, path)
  if (json === undefined) return undefined
  return mayChangeNumbers(json) ? parseExact(json) : tryParse(json)
}

function memberJson(text: string, key: string): string | null {
  if (!text.startsWith("[")) return memberText(text, key)
  return /^\d+$/.test(key) ? elementText(text, Number(key)) : null
}

function member(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? (value[Number(key)] as unknown) : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** A text as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
