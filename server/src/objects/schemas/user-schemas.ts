/** Checks against users' JSON Schemas, each within its limits: evaluation-store-objects 2.3 and 3.1. */
import { HeddleError } from "../../errors.ts"
import { countValues } from "../../json/value-count.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { type SchemaFault, schemaTask } from "./schema-check.ts"

type Dependencies = Pick<StoreDependencies, "threads" | "limits">

/** `schema`: JSON text. `name`: by which errors call it. @throws {HeddleError} `value_error`: it is none, or takes too much. */
export async function checkSchema(
  dependencies: Dependencies,
  { schema, name }: { schema: string; name: string },
): Promise<void> {
  checkSize(dependencies, { schema, name }, "value_error")
  const fault = await faultOf(dependencies, { schema, values: null })
  if (fault === null) return
  if (fault.kind === "late") throw tooSlow(dependencies, name, "value_error")
  throw new HeddleError("value_error", `${name} is not a JSON Schema: ${fault.message}`)
}

/** The fault of one of the values, given as JSON texts. */
export interface ValueFault {
  index: number
  message: string
}

/** @throws {HeddleError} `invalid_request`: the schema cannot be used, or takes too much with these values. */
export async function findValueFault(
  dependencies: Dependencies,
  schema: { schema: string; name: string },
  values: readonly string[],
): Promise<ValueFault | null> {
  const fault = await findFaultInTime(dependencies, schema, values)
  if (fault === "late") throw tooSlow(dependencies, schema.name, "invalid_request")
  return fault
}

/**
 * As {@link findValueFault}; `late`: the time of one check is over. It is little, and takes in the reading of the values:
 * fewer of them may have enough.
 */
export async function findFaultInTime(
  dependencies: Dependencies,
  { schema, name }: { schema: string; name: string },
  values: readonly string[],
): Promise<ValueFault | "late" | null> {
  checkSize(dependencies, { schema, name }, "invalid_request")
  const fault = await faultOf(dependencies, { schema, values })
  if (fault === null) return null
  if (fault.kind === "late") return "late"
  if (fault.kind === "schema") throw new HeddleError("invalid_request", `${name} cannot be used: ${fault.message}`)
  return { index: fault.index, message: fault.message.trim() }
}

async function faultOf(
  { threads, limits }: Dependencies,
  check: { schema: string; values: readonly string[] | null },
): Promise<SchemaFault | null> {
  const input = { ...check, workMs: limits.schema_work_ms }
  return (await threads.run(schemaTask, input, { bytes: check.schema.length, answer: noLookups })).fault
}

type Refusal = "value_error" | "invalid_request"

function checkSize({ limits }: Dependencies, { schema, name }: { schema: string; name: string }, code: Refusal): void {
  const { schema_bytes: mostBytes, schema_values: mostValues } = limits
  const bytes = Buffer.byteLength(schema)
  if (bytes > mostBytes) throw new HeddleError(code, `${name} has ${bytes} bytes; a schema may have ${mostBytes}`)
  if (countValues(schema) <= mostValues) return
  throw new HeddleError(code, `${name} has more than ${mostValues} values; a schema may have as many at most`)
}

function tooSlow({ limits }: Dependencies, name: string, code: Refusal): HeddleError {
  return new HeddleError(code, `${name} takes more than ${limits.schema_work_ms} ms to be used; make it simpler`)
}
