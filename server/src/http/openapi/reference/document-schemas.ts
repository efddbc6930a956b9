/** Schemas as the document shows them: those with a name once, under `components/schemas`, and refs to them elsewhere. */
import { z } from "zod"
import { type FieldPlace, meaningOf } from "./field-meanings.ts"
import { schemaNames } from "./schema-names.ts"

type Json = Readonly<Record<string, unknown>>
type Side = FieldPlace["side"]

const named = "#/$defs/"
const components = "#/components/schemas/"

export class DocumentSchemas {
  readonly #named: Record<Side, Map<string, Json>> = { input: new Map(), output: new Map() }

  /** Schema of what a client may send. */
  input(schema: z.ZodType): Json {
    return this.#documented(schema, "input")
  }

  /** Schema of what the server answers. */
  output(schema: z.ZodType): Json {
    return this.#documented(schema, "output")
  }

  /** The fields of `schema`, whether it has a name or not. */
  fieldsOf(schema: z.ZodObject): { properties: Readonly<Record<string, Json>>; required: readonly string[] } {
    const documented = this.input(schema)
    const fields =
      typeof documented["$ref"] === "string" ? this.#named.input.get(nameIn(documented["$ref"])) : documented
    const { properties = {}, required = [] } = (fields ?? {}) as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return { properties, required }
  }

  /** `document` with everything that it refers to under `components/schemas`, beside what is there already. */
  complete(document: Json): Json {
    const different = this.#different()
    const nameOf = (side: string, name: string) => (side === "input" && different.has(name) ? `${name}Input` : name)
    const schemas: Record<string, Json> = {}
    for (const side of ["output", "input"] as const) {
      for (const [name, schema] of this.#named[side]) schemas[nameOf(side, name)] ??= schema
    }
    const others = document["components"] as Json
    const whole = { ...document, components: { ...others, schemas: { ...schemas, ...(others["schemas"] as object) } } }
    const text = JSON.stringify(whole).replaceAll(
      /"#\/(input|output)\/([^"]+)"/g,
      (_, side: string, name: string) => `"${components}${nameOf(side, name)}"`,
    )
    return reachable(JSON.parse(text) as typeof whole)
  }

  /** Refs name their side until the document is whole: only then is it known which schemas are the same on both. */
  #documented(schema: z.ZodType, side: Side): Json {
    const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: side, unrepresentable: "any", metadata: schemaNames })
    for (const [name, definition] of Object.entries($defs)) {
      if (this.#named[side].has(name)) continue
      this.#named[side].set(name, anyJson[name] ?? readable(definition, { side, within: name }))
    }
    return readable(root, { side, within: null })
  }

  /** Names of schemas that are not the same on both sides, or that refer to one. */
  #different(): Set<string> {
    const { input, output } = this.#named
    const bothSides = [...input.keys()].filter((name) => output.has(name))
    const text = (side: Side, name: string) => JSON.stringify(this.#named[side].get(name))
    const different = new Set(
      bothSides.filter((name) => text("input", name).replaceAll('"#/input/', '"#/output/') !== text("output", name)),
    )
    for (let before = -1; before !== different.size;) {
      before = different.size
      for (const name of bothSides) {
        const refers = [...different].some((other) => text("input", name).includes(`"#/input/${other}"`))
        if (refers) different.add(name)
      }
    }
    return different
  }
}

/** `schema` by itself: parts that have a name stand once, under `$defs`, and say what their fields mean. */
export function standaloneSchema(schema: z.ZodType, side: Side): Json {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: side, metadata: schemaNames })
  const parts = Object.entries($defs).map(([name, part]) => [name, readable(part, { side, within: name })] as const)
  const whole = { ...readable(root, null), ...(parts.length === 0 ? {} : { $defs: Object.fromEntries(parts) }) }
  return JSON.parse(JSON.stringify(whole).replaceAll(`"#/${side}/`, `"${named}`)) as Json
}

/** A union that refers to itself says no more than this, and generated clients do not compile with it. */
const anyJson: Readonly<Record<string, Json>> = {
  JsonValue: { description: "Any JSON value." },
  Literal: { description: "Any JSON value." },
}

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1)

/** Without schemas that nothing refers to, such as those of parameters, whose fields stand by themselves. */
function reachable(document: Json & { components: Json & { schemas: Record<string, Json> } }): Json {
  const { schemas } = document.components
  const used = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      follow(schemas[name])
    }
  }
  follow(document["paths"])
  const kept = Object.entries(schemas)
    .filter(([name]) => used.has(name))
    .toSorted(([one], [two]) => (one < two ? -1 : 1))
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(kept) } }
}

/** Keywords that are left out because they say nothing new. */
const implied: Readonly<Record<string, (value: unknown, schema: Json) => boolean>> = {
  // OpenAPI 3.1 schemas are JSON Schema 2020-12 already.
  $schema: () => true,
  // The name of a schema, which is its key among the components.
  id: (value) => typeof value === "string",
  // The bounds of a JavaScript integer, and the pattern behind a named format, tell a reader nothing.
  minimum: (value) => value === Number.MIN_SAFE_INTEGER,
  maximum: (value) => value === Number.MAX_SAFE_INTEGER,
  pattern: (_, schema) => schema["format"] !== undefined,
}

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(["default", "enum", "const", "examples"])

/** `place` null: no meanings are added, and refs stay. */
function readable(schema: unknown, place: FieldPlace | null): Json {
  return documentSchema(schema, place) as Json
}

function documentSchema(schema: unknown, place: FieldPlace | null): unknown {
  if (Array.isArray(schema)) return schema.map((one) => documentSchema(one, place))
  if (typeof schema !== "object" || schema === null) return schema
  const documented: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (implied[key]?.(value, schema as Json) === true) continue
    documented[key] = documentKeyword(key, value, place)
  }
  return documented
}

function documentKeyword(key: string, value: unknown, place: FieldPlace | null): unknown {
  if (dataKeywords.has(key)) return value
  if (key === "$ref" && place !== null) return String(value).replace(named, `#/${place.side}/`)
  if (key === "pattern") return withoutClassNames(String(value))
  return key === "properties" && place !== null ? withMeanings(value as Json, place) : documentSchema(value, place)
}

/** A field's own description wins. */
function withMeanings(properties: Json, place: FieldPlace): Json {
  const described = Object.entries(properties).map(([name, property]) => {
    const { side, within } = place
    const documented = readable(property, { side, within: within === null ? null : `${within}.${name}` })
    const meaning = meaningOf(name, place)
    return [
      name,
      meaning === undefined || "description" in documented ? documented : { ...documented, description: meaning },
    ] as const
  })
  return Object.fromEntries(described)
}

/** Python's expressions, with which many tools check patterns, do not know Unicode's names of classes. */
function withoutClassNames(pattern: string): string {
  const control = "\\x00-\\x1f\\x7f-\\x9f"
  return pattern.replaceAll("\\p{Cc}", control).replaceAll("\\P{Cc}", `[^${control}]`)
}
