/** Lists every field of bodies and answers in the API's document, at every depth. */

export interface DocumentField {
  /** The named schema or the operation that has the field, with the path from there. */
  within: string
  name: string
  schema: { description?: string; const?: unknown }
}

type Json = Readonly<Record<string, unknown>>

const dataKeywords = new Set(["default", "enum", "const", "examples", "example"])
const components = "#/components/schemas/"

/** All fields of `parts`, which are bodies of requests and answers by operation. A named schema is walked once. */
export function fieldsBelow(parts: Iterable<readonly [within: string, part: unknown]>, schemas: Json): DocumentField[] {
  const fields: DocumentField[] = []
  const seen = new Set<string>()
  const walk = (part: unknown, within: string): void => {
    if (Array.isArray(part)) return part.forEach((one) => walk(one, within))
    if (typeof part !== "object" || part === null) return
    for (const [key, value] of Object.entries(part)) {
      if (dataKeywords.has(key)) continue
      if (key === "$ref") follow(String(value).replace(components, ""))
      else if (key === "properties") enter(value as Json, within)
      else walk(value, within)
    }
  }
  const follow = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    walk(schemas[name], name)
  }
  const enter = (properties: Json, within: string) => {
    for (const [name, schema] of Object.entries(properties)) {
      fields.push({ within, name, schema: schema as DocumentField["schema"] })
      walk(schema, `${within}.${name}`)
    }
  }
  for (const [within, part] of parts) walk(part, within)
  return fields
}
