/** Whether an annotation's value is what its spec asks for: evaluation-store-objects 2.3 and 3.1. */
import { Ajv, type Options } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import type { RegExpLike } from "ajv/dist/types/index.js"
import { createContext, Script } from "node:vm"
import { HeddleError } from "../../errors.ts"

/** `specText`: the JSON of the object that `annotation_ref` names. @throws {HeddleError} `invalid_request`. */
export function checkAnnotationValue(specText: string, annotationRef: string, value: unknown): void {
  const schema = fieldSchema(specText, annotationRef)
  const problem = schemaProblem(schema, value, annotationRef)
  if (problem === null) return
  throw new HeddleError(
    "invalid_request",
    `Feedback payload does not match annotation spec ${annotationRef}: the value ${problem.trim()}`,
  )
}

function fieldSchema(specText: string, annotationRef: string): object | boolean {
  const spec = JSON.parse(specText) as { _class_name?: unknown; field_schema?: unknown } | null
  if (spec?._class_name !== "AnnotationSpec") {
    throw new HeddleError("invalid_request", `annotation_ref "${annotationRef}" does not name an AnnotationSpec`)
  }
  const { field_schema: schema = {} } = spec
  return typeof schema === "boolean" ? schema : (schema as object)
}

/** What is wrong with the value, in words; null: nothing. @throws {HeddleError} `invalid_request`: no usable schema. */
export function schemaProblem(schema: object | boolean, value: unknown, annotationRef: string): string | null {
  const validator = validatorOf(schema)
  try {
    const validate = validator.compile(schema)
    if (validate(value)) return null
    return validator.errorsText(validate.errors, { dataVar: "" })
  } catch (cause) {
    const { message } = cause as Error
    throw new HeddleError("invalid_request", `the schema of ${annotationRef} cannot be used: ${message}`, { cause })
  }
}

const draft7 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema/

/** A new one each time, since it keeps what a schema calls itself; without the meta-schema it takes a millisecond. */
function validatorOf(schema: object | boolean): Ajv {
  const options: Options = {
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // As Python's jsonschema: `format` says what is meant and is not checked.
    validateFormats: false,
    code: { regExp: timeLimitedRegExp },
  }
  const dialect = typeof schema === "object" && "$schema" in schema ? String(schema.$schema) : ""
  return draft7.test(dialect) ? new Ajv(options) : new Ajv2020(options)
}

const longestMatchMs = 200

/** The pattern is a user's: one that backtracks for ever must not hold up the server. */
function timeLimitedRegExp(pattern: string, flags: string): RegExpLike {
  const expression = new RegExp(pattern, flags)
  const context = createContext({ expression, text: "" })
  const match = new Script("expression.test(text)")
  const test = (text: string) => {
    context["text"] = text
    return match.runInContext(context, { timeout: longestMatchMs }) === true
  }
  // The validator tells patterns apart by their text.
  const limited: RegExpLike & { toString: () => string } = { test, toString: () => `/${pattern}/${flags}` }
  return limited
}
timeLimitedRegExp.code = "new RegExp"
