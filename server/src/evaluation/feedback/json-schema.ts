/** JSON Schemas that people write: evaluation-store-objects 3.1, AnnotationSpec. */
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { HeddleError } from "../../errors.ts"
import { isMap } from "../objects/object-classes.ts"

const draft7 = /^https?:\/\/json-schema\.org\/draft-07\/schema/
const options = { strict: false, logger: false, validateFormats: false } as const

/** Whether `schema` keeps to the draft it names, or to 2020-12. @throws {HeddleError} `value_error`. */
export function checkFieldSchema(schema: unknown, path: string): void {
  // Numbers that kept their spelling are objects to a validator.
  const { $schema, ...plain } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
  const validator = isMap(schema) && draft7.test(String($schema)) ? new Ajv(options) : new Ajv2020(options)
  if (validator.validateSchema(plain) === true) return
  throw new HeddleError(
    "value_error",
    `${path} is not a JSON Schema: ${validator.errorsText(validator.errors, { dataVar: "" })}`,
  )
}
