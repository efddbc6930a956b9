/** Attributes without a column, by type: evaluation-store-calls 10. */
import { type AnyValue, jsonOfValue, type KeyValue, KeyValueList } from "../otlp/any-value.ts"

/** Attributes beyond these limits are kept only in the raw span. */
const mostAttributes = 1024
const longestValue = 256 * 1024

export interface CustomAttributes {
  custom_attrs_string: Record<string, string>
  custom_attrs_int: Record<string, unknown>
  custom_attrs_float: Record<string, number>
  custom_attrs_bool: Record<string, boolean>
}

/** `isOwn`: the attribute is told elsewhere. Names come from outside: none of them reaches a prototype. */
export function customAttributes(attributes: readonly KeyValue[], isOwn: (name: string) => boolean): CustomAttributes {
  const texts = new Map<string, string>()
  const integers = new Map<string, unknown>()
  const doubles = new Map<string, number>()
  const booleans = new Map<string, boolean>()
  for (const [name, value] of flat(attributes, "")) {
    if (isOwn(name)) continue
    if (texts.size + integers.size + doubles.size + booleans.size >= mostAttributes) break
    if (typeof value === "boolean") booleans.set(name, value)
    else if (typeof value === "bigint") integers.set(name, JSON.rawJSON(String(value)))
    else if (typeof value === "number") {
      if (Number.isFinite(value)) doubles.set(name, value)
    } else if (value !== null && value !== "") texts.set(name, shortened(textOf(value)))
  }
  return {
    custom_attrs_string: Object.fromEntries(texts),
    custom_attrs_int: Object.fromEntries(integers),
    custom_attrs_float: Object.fromEntries(doubles),
    custom_attrs_bool: Object.fromEntries(booleans),
  }
}

/** Attributes within attributes under the names of both. */
function* flat(attributes: readonly KeyValue[], prefix: string): Iterable<[string, AnyValue]> {
  for (const { key, value } of attributes) {
    const name = prefix === "" ? key : `${prefix}.${key}`
    if (value instanceof KeyValueList) yield* flat(value.entries, name)
    else yield [name, value]
  }
}

function textOf(value: AnyValue): string {
  if (typeof value === "string") return value
  return Buffer.isBuffer(value) ? value.toString("base64") : jsonOfValue(value)
}

function shortened(text: string): string {
  if (text.length <= longestValue) return text
  const marker = `...[truncated from ${text.length} chars]`
  return text.slice(0, longestValue - marker.length) + marker
}
