/**
 * Types of the fields of builtin classes: each checks a value and returns it as the SDK's own dump
 * has it. Values are those of `parseExact`, so that numbers in free JSON keep their spelling.
 */
import { HeddleError } from "../../errors.ts"
import { exactInteger } from "../../json/exact-json.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { pythonFloat } from "../../json/python-json.ts"

/** @throws {HeddleError} `value_error` that names `path`. */
export type FieldType = (value: unknown, path: string) => unknown

export interface Field {
  type: FieldType
  /** Default of an optional field. */
  default?: unknown
}

export interface BuiltinClass {
  name: string
  bases: readonly string[]
  fields: Readonly<Record<string, Field>>
  /** Unknown fields are refused; otherwise they are left out. */
  closed?: boolean
  /** A rule over several fields of the dump. */
  check?: (dump: Record<string, unknown>, path: string) => void
}

export const text: FieldType = (value, path) => (typeof value === "string" ? value : refuse(path, "a string", value))

export const boolean: FieldType = (value, path) =>
  typeof value === "boolean" ? value : refuse(path, "true or false", value)

export const anything: FieldType = (value) => value

export const map: FieldType = (value, path) => (isJsonObject(value) ? value : refuse(path, "an object", value))

/** Printed without a point, as Python's `int`. */
export const integer: FieldType = (value, path) =>
  isNumber(value) && Number.isInteger(numberOf(value))
    ? JSON.rawJSON(String(exactInteger(value)))
    : refuse(path, "an integer", value)

/** Printed as Python's `float`. */
export const float: FieldType = (value, path) => {
  if (!isNumber(value)) return refuse(path, "a number", value)
  const number = numberOf(value)
  // JSON has no infinity to print one with that no double holds.
  return Number.isFinite(number) ? JSON.rawJSON(pythonFloat(number)) : refuse(path, "within ±1.8e308", value)
}

export function between(low: number, high: number): FieldType {
  return (value, path) => {
    const number = integer(value, path)
    if (numberOf(number) >= low && numberOf(number) <= high) return number
    return refuse(path, high === Infinity ? `at least ${low}` : `from ${low} to ${high}`, value)
  }
}

export const nonEmptyText: FieldType = (value, path) =>
  value === "" ? refuse(path, "a string that is not empty", value) : text(value, path)

export function oneOf(...choices: string[]): FieldType {
  return (value, path) =>
    typeof value === "string" && choices.includes(value) ? value : refuse(path, `one of ${choices.join(", ")}`, value)
}

export function either(...types: FieldType[]): FieldType {
  return (value, path) => {
    for (const type of types.slice(0, -1)) {
      try {
        return type(value, path)
      } catch (error) {
        if (!(error instanceof HeddleError)) throw error
      }
    }
    return (types.at(-1) as FieldType)(value, path)
  }
}

export function listOf(type: FieldType): FieldType {
  return (value, path) =>
    Array.isArray(value) ? value.map((item, index) => type(item, `${path}.${index}`)) : refuse(path, "a list", value)
}

export function mapOf(type: FieldType): FieldType {
  return (value, path) =>
    Object.fromEntries(
      Object.entries(map(value, path) as object).map(([key, item]) => [key, type(item, `${path}.${key}`)]),
    )
}

export function required(type: FieldType): Field {
  return { type }
}

/** May be left out and null. */
export function optional(type: FieldType): Field {
  return { type: (value, path) => (value === null ? null : type(value, path)), default: null }
}

export function defaulting(type: FieldType, value: unknown): Field {
  return { type, default: value }
}

/** An object of a class; `builtin` is asked for late, so that classes may hold each other. */
export function instanceOf(builtin: () => BuiltinClass): FieldType {
  return (value, path) => dump(builtin(), value, path)
}

/** An object of the class that its field `tag` names, so that what is wrong with it is told of that class. */
export function instanceByTag(tag: string, classes: Readonly<Record<string, BuiltinClass>>): FieldType {
  const name = oneOf(...Object.keys(classes))
  return (value, path) => {
    const named = name((map(value, path) as Record<string, unknown>)[tag] ?? null, `${path}.${tag}`) as string
    return dump(classes[named] as BuiltinClass, value, path)
  }
}

/** The value as the SDK dumps an instance of the class: defaults filled in, with its class and bases. */
export function dump(builtin: BuiltinClass, value: unknown, path: string): Record<string, unknown> {
  if (!isJsonObject(value)) return refuse(path, `an object of ${builtin.name}`, value)
  const unknown = Object.keys(value).find((key) => !key.startsWith("_") && !Object.hasOwn(builtin.fields, key))
  if (builtin.closed === true && unknown !== undefined)
    return refuse(`${path}.${unknown}`, `left out: ${builtin.name} has no such field`, value[unknown])
  const fields = Object.entries(builtin.fields).map(([name, field]) => [
    name,
    read(field, Object.hasOwn(value, name) ? value[name] : undefined, `${path}.${name}`),
  ])
  const dumped: Record<string, unknown> = Object.fromEntries(fields)
  builtin.check?.(dumped, path)
  return { _type: builtin.name, ...dumped, _class_name: builtin.name, _bases: builtin.bases }
}

function read(field: Field, value: unknown, path: string): unknown {
  if (value !== undefined) return field.type(value, path)
  if (!("default" in field)) return refuse(path, "there", undefined)
  // A default that is an object of a class has defaults of its own.
  return field.default === null ? null : field.type(field.default, path)
}

export function refuse(path: string, wanted: string, value: unknown): never {
  const actual = value === undefined ? "it is missing" : `not ${JSON.stringify(value).slice(0, 80)}`
  throw new HeddleError("value_error", `${path} must be ${wanted}, ${actual}`)
}

export function numberOf(value: unknown): number {
  return Number(JSON.isRawJSON(value) ? value.rawJSON : value)
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || JSON.isRawJSON(value)
}
