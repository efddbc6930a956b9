/** Constraints on the answer, from every form that clients send to the engine's one (inference-api 3). */
import { parseExact } from "../json/exact-json.ts"
import type { StructuredOutput } from "../wire/engine/chat.ts"
import type { StructuredRequest } from "../wire/inference/structured-output.ts"
import { refused } from "./unsupported.ts"

/** Parts of a request that the engine gets as the client wrote them. */
export const exactStructuredFields = ["response_format", "structured_outputs", "guided_json"] as const

const kinds = ["json", "regex", "choice", "grammar"] as const
type Kind = (typeof kinds)[number]

/** null: any answer. @throws {HeddleError} `invalid_request` for what is unknown, or asked for twice. */
export function toStructuredOutput(body: StructuredRequest): StructuredOutput | null {
  const [first, second] = [
    fromResponseFormat(body.response_format),
    fromStructuredOutputs(body.structured_outputs),
    ...kinds.map((kind) => outputOf(kind, body[`guided_${kind}`], `guided_${kind}`)),
  ].filter((output) => output !== null)
  if (first !== undefined && second !== undefined)
    throw refused(second.param, `the answer is already held to ${first.param}; send one of them`)
  return first ?? null
}

function fromResponseFormat(format: StructuredRequest["response_format"]): StructuredOutput | null {
  const param = "response_format"
  if (format == null || format.type === "text") return null
  if (format.type === "json_object") return anyObject(param)
  if (format.type !== "json_schema")
    throw refused(param, `the type "${format.type}" is not supported; use "text", "json_object" or "json_schema"`)
  const given = format.json_schema
  if (given == null) throw refused(param, 'the type "json_schema" needs json_schema: {"name": "…", "schema": {…}}')
  return outputOf("json", given.schema, `${param}.json_schema.schema`) ?? anyObject(param)
}

function fromStructuredOutputs(given: StructuredRequest["structured_outputs"]): StructuredOutput | null {
  const param = "structured_outputs"
  if (given == null) return null
  if (given.structural_tag != null) throw refused(param, "structural_tag is not supported; use json, regex or grammar")
  const outputs = kinds.flatMap((kind) => outputOf(kind, given[kind], `${param}.${kind}`) ?? [])
  if (given.json_object === true) outputs.push(anyObject(`${param}.json_object`))
  if (outputs.length > 1)
    throw refused(param, `one kind at a time, not ${outputs.map((one) => one.param).join(" and ")}`)
  return outputs[0] ?? null
}

function anyObject(param: string): StructuredOutput {
  return { kind: "json", schema: { type: "object" }, param }
}

function outputOf(kind: Kind, value: unknown, param: string): StructuredOutput | null {
  if (value == null) return null
  if (kind === "json") return { kind, schema: schemaOf(value, param), param }
  if (kind === "choice") return { kind, options: value as string[], param }
  return { kind, text: value as string, param }
}

/** vLLM takes a schema as JSON text too. */
function schemaOf(value: unknown, param: string): Record<string, unknown> {
  const schema = typeof value === "string" ? parsed(value, param) : value
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw refused(param, `a JSON schema is an object, not ${JSON.stringify(schema)}`)
  return schema as Record<string, unknown>
}

function parsed(text: string, param: string): unknown {
  try {
    return parseExact(text)
  } catch (cause) {
    throw refused(param, `it is a text, and not JSON: ${(cause as Error).message}`)
  }
}
