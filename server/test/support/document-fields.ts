/** Every field of the API's document: of bodies and answers, with what is below them. */

export interface DocumentField {
  /** Of the schema that has it: its name, or the operation that it stands in, and the path from there. */
  within: string
  name: string
  schema: { description?: string; const?: unknown }
}

type Json = Readonly<Record<string, unknown>>

const dataKeywords = new Set(["default", "enum", "const", "examples", "example"])
const components = "#/components/schemas/"

/** `parts`: bodies of requests and of answers by the operation they stand in. A schema with a name is walked once. */
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
