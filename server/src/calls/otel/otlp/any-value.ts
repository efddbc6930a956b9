/** OpenTelemetry's attribute values, each told apart from the others (law 3). */

/** A list of attributes that is itself a value. */
export class KeyValueList {
  readonly entries: readonly KeyValue[]

  constructor(entries: readonly KeyValue[]) {
    this.entries = entries
  }
}

/** An integer is a bigint, a double a number; null: the value is empty. */
export type AnyValue = string | boolean | bigint | number | Buffer | KeyValueList | readonly AnyValue[] | null

export interface KeyValue {
  key: string
  value: AnyValue
}

/** Values within values; what is nested deeper is refused before it costs anything. */
export const maximumValueDepth = 48

export class ValueTooDeepError extends Error {
  override readonly name = "ValueTooDeepError"

  constructor() {
    super(`an attribute's value is nested in more than ${maximumValueDepth} levels`)
  }
}

/** A double that JSON has no number for is told as proto3's JSON does, bytes as base64. */
export function jsonOfValue(value: AnyValue): string {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "bigint" || typeof value === "boolean" || value === null) return String(value)
  if (typeof value === "number") return jsonOfDouble(value)
  if (Buffer.isBuffer(value)) return JSON.stringify(value.toString("base64"))
  if (value instanceof KeyValueList) return jsonOfEntries(value.entries)
  return `[${value.map(jsonOfValue).join(",")}]`
}

/** As an object; of equal keys the last one counts. */
export function jsonOfEntries(entries: readonly KeyValue[]): string {
  return jsonOfMembers(entries, jsonOfValue)
}

export function jsonOfMembers(entries: readonly KeyValue[], json: (value: AnyValue) => string): string {
  const members = new Map(entries.map(({ key, value }) => [key, value]))
  return `{${Array.from(members, ([key, value]) => `${JSON.stringify(key)}:${json(value)}`).join(",")}}`
}

/** A whole one keeps its `.0`, which tells it from an integer. */
function jsonOfDouble(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`
  if (Object.is(value, -0)) return "-0.0"
  const text = String(value)
  return Number.isInteger(value) && !text.includes("e") ? `${text}.0` : text
}
