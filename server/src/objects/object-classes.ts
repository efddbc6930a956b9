/** Kind and class of a published value: evaluation-store-objects 3.1. */
import { codePoints } from "../json/code-points.ts"
import { HeddleError } from "../errors.ts"
import { isJsonObject } from "../json/parsed-json.ts"

export interface ObjectClasses {
  /** The first class below `Object` or `BaseObject`. */
  base: string
  /** The class itself. */
  leaf: string
}

const rootClasses = new Set<unknown>(["Object", "BaseObject"])

/** null: the value is of no class of the SDK. */
export function classesOf(val: unknown): ObjectClasses | null {
  if (!isJsonObject(val)) return null
  const { _bases: bases, _class_name: leaf } = val
  if (!Array.isArray(bases) || typeof leaf !== "string") return null
  if (bases.at(-1) !== "BaseModel" || !rootClasses.has(bases.at(-2))) return null
  const base: unknown = bases.length > 2 ? bases.at(-3) : leaf
  return typeof base === "string" ? { base, leaf } : null
}

export function kindOf(val: unknown): "op" | "object" {
  const type = isJsonObject(val) ? val["weave_type"] : undefined
  return isJsonObject(type) && type["type"] === "Op" ? "op" : "object"
}

const objectName = /^[\p{L}\p{N}_.-]*$/u
const maximumNameLength = 128

/** @throws {HeddleError} `invalid_field`. */
export function checkObjectId(objectId: string): void {
  const length = codePoints(objectId)
  if (length === 0) throw new HeddleError("invalid_field", "object_id is empty: give the object a name")
  if (length > maximumNameLength) {
    throw new HeddleError(
      "invalid_field",
      `object_id "${objectId.slice(0, 40)}…" has ${length} characters; a name has at most ${maximumNameLength}`,
    )
  }
  if (objectName.test(objectId)) return
  const bad = [...new Set(Array.from(objectId).filter((character) => !objectName.test(character)))].join(" ")
  throw new HeddleError(
    "invalid_field",
    `Invalid object name: "${objectId}" holds ${bad}; a name is made of letters, digits, "_", "." and "-"`,
  )
}

/** The SDKs write an object's files under these names when they read it. @throws {HeddleError} `value_error`. */
export function checkFileNames(val: unknown): void {
  const files = isJsonObject(val) ? val["files"] : undefined
  if (!isJsonObject(files)) return
  for (const name of Object.keys(files)) {
    const parts = name.split(/[\\/]/)
    if (parts[0] !== "" && !/^[A-Za-z]:$/.test(parts[0] ?? "") && !parts.includes("..")) continue
    throw new HeddleError(
      "value_error",
      `the file name "${name}" is absolute or leads out of its folder; use a relative one`,
    )
  }
}
