/** Finds the places in a request where a value can be put, from the schema of its route. */
import { z } from "zod"

export type Place = (string | number)[]

/** The kind of value at a place; `any` where the schema does not say. */
type PlaceKind = "text" | "number" | "list" | "object" | "any" | "other"

export interface SchemaPlace {
  place: Place
  kind: PlaceKind
}

export const jsonSchemaOf = (schema: z.ZodType | undefined): unknown =>
  schema === undefined ? {} : z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })

const kindOfType: Readonly<Record<string, PlaceKind>> = {
  string: "text",
  number: "number",
  integer: "number",
  array: "list",
  object: "object",
}

/** Places in values of a JSON Schema, to a depth of six. Texts with given choices are `other`. */
export function schemaPlaces(schema: unknown, place: Place = []): SchemaPlace[] {
  if (typeof schema !== "object" || schema === null || place.length > 5) return []
  const {
    type,
    anyOf,
    properties,
    items,
    enum: choices,
    const: only,
  } = schema as {
    type?: string | string[]
    anyOf?: unknown[]
    properties?: Record<string, unknown>
    items?: unknown
    enum?: unknown[]
    const?: unknown
  }
  const isFree = choices === undefined && only === undefined
  const saysNothing = Object.keys(schema).every((key) => key === "description" || key === "default")
  const types = type === undefined ? [] : [type].flat()
  const own = types.map((name): SchemaPlace => ({ place, kind: isFree ? (kindOfType[name] ?? "other") : "other" }))
  return [
    ...(saysNothing ? [{ place, kind: "any" } as const] : own),
    ...(anyOf ?? []).flatMap((one) => schemaPlaces(one, place)),
    ...Object.entries(properties ?? {}).flatMap(([name, one]) => schemaPlaces(one, [...place, name])),
    ...(items === undefined ? [] : schemaPlaces(items, [...place, 0])),
  ]
}

/** The value at a place; undefined when there is none. */
export function valueAt(target: unknown, place: Place): unknown {
  return place.reduce<unknown>(
    (inner, part) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, part)
        ? (inner as Record<string | number, unknown>)[part]
        : undefined,
    target,
  )
}

/** A copy of `target` with `value` at the place; missing lists and objects on the way are made. */
export function withValue(target: unknown, [first, ...rest]: Place, value: unknown): unknown {
  if (first === undefined) return value
  if (typeof first === "number") {
    const list = Array.isArray(target) ? (target as unknown[]) : []
    return first < list.length
      ? list.with(first, withValue(list[first], rest, value))
      : [...list, withValue(undefined, rest, value)]
  }
  const map = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {}
  return { ...map, [first]: withValue((map as Record<string, unknown>)[first], rest, value) }
}
