/**
 * JSON Schemas that users write: evaluation-store-objects 2.3 and 3.1. A schema of 2 KB may be made to take for ever, when
 * it is compiled or when a value is held against it, so all of it happens on a thread beside the server's own, and no
 * longer than it is given.
 */
import { Ajv, type AnySchema, type Options, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { hash } from "node:crypto"
import { createContext, Script } from "node:vm"
import { plainTask } from "../../threads/thread-task.ts"

export interface SchemaInput {
  /** JSON text. */
  schema: string
  /** JSON texts of the values to be held against it; null: it is only asked whether the schema is one. */
  values: readonly string[] | null
  workMs: number
}

/** The fault in words. `index`: the value at fault. */
export type SchemaFault =
  | { kind: "value"; index: number; message: string }
  /** The schema does not keep to its draft, or cannot be used. */
  | { kind: "schema"; message: string }
  | { kind: "late" }

export const schemaTask = plainTask({
  name: "schema",
  // Even a small input gets a thread: a small schema may take for ever.
  ownThreadBytes: 0,
  work: ({ schema, values, workMs }: SchemaInput): { fault: SchemaFault | null } => {
    prepare()
    return { fault: withinTime(workMs, () => (values === null ? schemaFault(schema) : valueFault(schema, values))) }
  },
})

/** As Python's jsonschema: `format` says what is meant and is not checked. */
const common: Options = { strict: false, logger: false, validateFormats: false }

const context = createContext({ work: null as (() => unknown) | null })
const script = new Script("work()")

/** On a busy machine the clock is stretched to this many times the limit, and no further. */
const mostPatience = 64

/**
 * All code that V8 runs for `work`, compiled validators and patterns included, is stopped when its time is over. Only the
 * clock can stop it, but the limit is on processor time: work that got less of that is done once more, with a longer clock.
 */
function withinTime(workMs: number, work: () => SchemaFault | null): SchemaFault | null {
  context["work"] = work
  for (let patience = 1; ; patience *= 4) {
    const before = processorMs()
    try {
      return script.runInContext(context, { timeout: workMs * patience }) as SchemaFault | null
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error
      if (processorMs() - before >= 0.9 * workMs || patience >= mostPatience) return { kind: "late" }
    }
  }
}

/** Processor time of this thread, in milliseconds. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Whether it keeps to the draft that it names, or to 2020-12. What it refers to need not be there. */
function schemaFault(text: string): SchemaFault | null {
  const { $schema, ...plain } = JSON.parse(text) as Record<string, unknown>
  const validator = isDraft7($schema) ? draftValidators.draft7 : draftValidators.draft2020
  if (validator.validateSchema(plain) !== true) {
    return { kind: "schema", message: validator.errorsText(validator.errors, { dataVar: "" }) }
  }
  // Refuses a schema that takes too long to compile. One that cannot be compiled at all is reported when it is used.
  compiled(text)
  return null
}

function valueFault(text: string, values: readonly string[]): SchemaFault | null {
  const validate = compiled(text)
  if (validate instanceof Error) return { kind: "schema", message: validate.message }
  for (const [index, value] of values.entries()) {
    const fits = fitsWithEnd(validate, JSON.parse(value))
    if (fits === null) return { kind: "schema", message: "it refers to itself without end" }
    if (!fits) {
      return { kind: "value", index, message: printer.errorsText(validate.errors ?? null, { dataVar: "" }) }
    }
  }
  return null
}

/** null: the schema has no end for this value. A reference is a call of what it names, also where that is itself (`{"$ref":"#"}`). */
function fitsWithEnd(validate: ValidateFunction, value: unknown): boolean | null {
  try {
    return validate(value)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const mostCompiled = 200
/** By the hash of the schema's text, the most recently used last; an error for one that cannot be compiled. */
const validators = new Map<string, ValidateFunction | Error>()

function compiled(text: string): ValidateFunction | Error {
  const key = hash("sha256", text)
  const validate = validators.get(key) ?? compile(text)
  validators.delete(key)
  validators.set(key, validate)
  const [oldest] = validators.keys()
  if (validators.size > mostCompiled && oldest !== undefined) validators.delete(oldest)
  return validate
}

function compile(text: string): ValidateFunction | Error {
  const schema = JSON.parse(text) as AnySchema
  // A validator remembers schemas by `$id`, so each check makes its own: a millisecond without the meta-schema.
  const validator = validatorOf(typeof schema === "object" ? schema["$schema"] : undefined, {
    ...common,
    meta: false,
    validateSchema: false,
  })
  try {
    return validator.compile(schema)
  } catch (error) {
    return error as Error
  }
}

function isDraft7(dialect: unknown): boolean {
  return /^https?:\/\/json-schema\.org\/draft-0[67]\/schema/.test(String(dialect))
}

function validatorOf(dialect: unknown, options: Options): Ajv {
  return isDraft7(dialect) ? new Ajv(options) : new Ajv2020(options)
}

/** They check schemas against their draft, and remember nothing of them. */
const draftValidators = { draft7: new Ajv(common), draft2020: new Ajv2020(common) }
let isPrepared = false

/** Ajv compiles the drafts themselves when it first needs them, which must not count against the limit of a user. */
function prepare(): void {
  if (isPrepared) return
  for (const validator of Object.values(draftValidators)) void validator.validateSchema({})
  valueFault('{"type":"string"}', ['""'])
  isPrepared = true
}

const printer = draftValidators.draft7
