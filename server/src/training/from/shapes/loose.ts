/** Reads values out of parsed payloads, of whose form nothing is known. */

import { isJsonObject } from "../../../json/parsed-json.ts"

export type Loose = Record<string, unknown>

export const objectsOf = (value: unknown): Loose[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])

/** A text that is itself a JSON object or list, as span attributes often are, and else the value. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** The address of a stored value, such as a row of a dataset, and no text that somebody said. */
export const isRef = (text: string): boolean => /^weave:\/\/\/\S+$/.test(text)

/** The value at a path such as `inputs.chat.0.text`; undefined where there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => {
    const inside = unpacked(value)
    if (Array.isArray(inside)) return /^\d{1,9}$/.test(step) ? inside[Number(step)] : undefined
    return isJsonObject(inside) && Object.hasOwn(inside, step) ? inside[step] : undefined
  }, root)
}

/** The first of these members that is there and not null. */
export function firstOf(object: Loose, names: readonly string[]): unknown {
  for (const name of names) if (Object.hasOwn(object, name) && object[name] != null) return object[name]
  return undefined
}

/** As the text of a field; null: there is none. */
export function fieldText(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === "string" ? value : JSON.stringify(value)
}
