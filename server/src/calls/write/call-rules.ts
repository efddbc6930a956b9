/** Rules for the values of a call, beyond their types: evaluation-store-calls 1.5. */
import { codePoints } from "../../json/code-points.ts"
import { HeddleError } from "../../errors.ts"
import { type CallField, callFields } from "./call-fields.ts"
import type { CallItem } from "./call-item.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const otelSpanId = /^[0-9a-f]{16}$/i
const otelTraceId = /^[0-9a-f]{32}$/i

const longestOpName = 128
const longestDisplayName = 1024

/** Whether calls may have the id. It then holds nothing that JSON escapes. */
export function isCallId(id: string): boolean {
  return uuid.test(id) || otelSpanId.test(id)
}

/** @throws {HeddleError} `value_error` that names the field, its value and what it may be. */
export function checkCall({ form, values }: CallItem): void {
  for (const field of callFields[form]) {
    const value = values[field.index]
    if (value !== undefined) checkValue(field, value)
  }
}

function checkValue({ name, kind }: CallField, value: string): void {
  if (kind === "call_id" && !isCallId(value)) {
    throw bad(name, value, "is neither a UUID nor an OpenTelemetry span id (16 hexadecimal digits)")
  }
  if (kind === "trace_id" && !uuid.test(value) && !otelTraceId.test(value)) {
    throw bad(name, value, "is neither a UUID nor an OpenTelemetry trace id (32 hexadecimal digits)")
  }
  if (kind === "op_name" && !value.startsWith("weave:///") && lengthOf(value) > longestOpName) {
    throw bad(name, value, `has ${lengthOf(value)} characters; a name that is no ref may have ${longestOpName}`)
  }
  if (kind === "display_name") checkDisplayName(value)
}

/** @throws {HeddleError} `value_error` */
export function checkDisplayName(value: string): void {
  if (lengthOf(value) > longestDisplayName) {
    throw bad("display_name", value, `has ${lengthOf(value)} characters; it may have ${longestDisplayName}`)
  }
}

/** In code points, as Python counts. */
function lengthOf(text: string): number {
  return text.length <= longestOpName ? text.length : codePoints(text)
}

function bad(field: string, value: string, why: string): HeddleError {
  const excerpt = value.length > 160 ? `${value.slice(0, 160)}…` : value
  return new HeddleError("value_error", `${field} ${JSON.stringify(excerpt)} ${why}`)
}
