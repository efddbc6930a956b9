/** `{name}` in texts of prompts, as Python's `str.format` reads it: weave 0.54, `prompt/prompt.py`. */
import { HeddleError } from "../../errors.ts"
import { isJsonObject } from "../../json/parsed-json.ts"

/** Values of {@link parseExact}. */
export type TemplateVariables = Readonly<Record<string, unknown>>

const parts = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g
const field = /^([^[\].!:]+)((?:\[[^[\]]+\])*)$/

/** @throws {HeddleError} `invalid_request`: an unknown name, a lone brace, a form that is not supported. */
export function fillTemplate(text: string, variables: TemplateVariables): string {
  return text.replaceAll(parts, (part: string, inner: string | undefined) => {
    if (part === "{{") return "{"
    if (part === "}}") return "}"
    if (inner === undefined) throw refused(`a single "${part}" in a prompt; write "${part}${part}" for the character`)
    return templateText(lookUp(inner, variables))
  })
}

function lookUp(inner: string, variables: TemplateVariables): unknown {
  const match = field.exec(inner)
  if (match === null) throw refused(`"{${inner}}" in a prompt: only {name} and {name[key]} are supported`)
  const [, name = "", keys = ""] = match
  let value = member(variables, name)
  for (const [, key = ""] of keys.matchAll(/\[([^[\]]+)\]/g)) value = member(value, key)
  if (value !== undefined) return value
  const known = Object.keys(variables).toSorted().join(", ") || "none"
  throw refused(`the prompt asks for the variable "${inner}", which is not there; there are: ${known}`)
}

function member(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Texts as they are, single values as Python prints them, objects and lists as JSON. */
export function templateText(value: unknown): string {
  if (typeof value === "string") return value
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  return JSON.stringify(value)
}

/** Every text of the message, and of its parts. */
export function fillMessage(message: unknown, variables: TemplateVariables): unknown {
  if (!isJsonObject(message)) return message
  return Object.fromEntries(
    Object.entries(message).map(([key, value]) => [
      key,
      typeof value === "string" ? fillTemplate(value, variables) : fillParts(value, variables),
    ]),
  )
}

function fillParts(value: unknown, variables: TemplateVariables): unknown {
  return Array.isArray(value) && value.every(isJsonObject) ? value.map((part) => fillMessage(part, variables)) : value
}

function refused(message: string): HeddleError {
  return new HeddleError("invalid_request", message)
}
