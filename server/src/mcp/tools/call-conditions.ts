/** What a model says of the calls that it looks for, as the query language of the API says it (evaluation-store-calls 3.6). */
import { z } from "zod"
import { ToolError } from "../tool.ts"

const operators = ["is", "is_not", "in", "contains", ">", ">=", "<", "<=", "exists", "missing"] as const

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const condition = z.strictObject({
  field: z
    .string()
    .min(1)
    .max(1000)
    .describe(
      "A path: op_name, exception, thread_id, wb_user_id, summary.weave.status (success, error, running or descendant_error), " +
        "summary.weave.latency_ms, inputs.<path>, output.<path>, attributes.<path>, summary.<path>, or of feedback " +
        "feedback.[<type>].payload.value, such as feedback.[wandb.annotation.tone].payload.value.",
    ),
  operator: z.enum(operators),
  value: z
    .union([scalar, z.array(scalar).max(100)])
    .optional()
    .describe("A list for `in`; none for `exists` and `missing`."),
})

/** Fields of every tool that chooses calls. */
export const callSelection = {
  where: z.array(condition).max(20).optional().describe("All of them hold for a call that is found."),
  text: z.string().min(1).max(1000).optional().describe("Text that inputs or output contain, in any case."),
  op_names: z
    .array(z.string().min(1))
    .max(20)
    .optional()
    .describe("Names of functions, such as answer or openai.chat.completions.create."),
  roots_only: z.boolean().optional().describe("Only calls that no other call encloses, one for each trace."),
  since: z.iso.datetime({ offset: true }).optional().describe("Calls that started then or later."),
  until: z.iso.datetime({ offset: true }).optional().describe("Calls that started then or earlier."),
}

const selection = z.object(callSelection)
type CallSelection = z.output<typeof selection>
type Condition = z.output<typeof condition>
type Operand = object

const get = (path: string): Operand => ({ $getField: path })
const literal = (value: unknown): Operand => ({ $literal: value })
const isMissing = (path: string): Operand => ({ $eq: [get(path), literal(null)] })
const not = (operand: Operand): Operand => ({ $not: [operand] })
const equals = (path: string, value: unknown): Operand => ({ $eq: [get(path), literal(value)] })

/** The `filter` and `query` of the API. @throws {ToolError} */
export function selectionOf(project: string, chosen: CallSelection): { filter: object; query?: object } {
  const { where = [], text, op_names: names, roots_only: rootsOnly, since, until } = chosen
  const operands = where.map(operandOf)
  if (text !== undefined) operands.push({ $or: ["inputs", "output"].map((path) => containsInPayload(path, text)) })
  // As texts: milliseconds of a `Date` would lose the microseconds that calls are shown with.
  if (since !== undefined) operands.push({ $gte: [get("started_at"), literal(since)] })
  if (until !== undefined) operands.push({ $lte: [get("started_at"), literal(until)] })
  const filter = {
    ...(names === undefined ? {} : { op_names: names.flatMap((name) => spellingsOf(name, project)) }),
    ...(rootsOnly === true ? { trace_roots_only: true } : {}),
  }
  return { filter, ...(operands.length === 0 ? {} : { query: { $expr: { $and: operands } } }) }
}

/** A function that is traced has a name with its place and version; other clients send the name alone. */
export function spellingsOf(op: string, project: string): string[] {
  return op.startsWith("weave:///") ? [op] : [op, `weave:///${project}/op/${op}:*`]
}

function operandOf({ field, operator, value }: Condition): Operand {
  if (operator === "exists") return not(isMissing(field))
  if (operator === "missing") return isMissing(field)
  if (operator === "in") {
    if (!Array.isArray(value) || value.length === 0) throw wrongValue(field, operator, "a list of values")
    return { $or: value.map((one) => equals(field, one)) }
  }
  if (value === undefined || Array.isArray(value)) throw wrongValue(field, operator, "one value")
  switch (operator) {
    case "is":
      return equals(field, value)
    // A call without the field is none with that value.
    case "is_not":
      return { $or: [not(equals(field, value)), isMissing(field)] }
    case "contains":
      if (typeof value !== "string" || value === "") throw wrongValue(field, operator, "a text")
      return contains(field, value)
    case ">":
      return { $gt: [get(field), literal(value)] }
    case ">=":
      return { $gte: [get(field), literal(value)] }
    case "<":
      return { $lt: [get(field), literal(value)] }
    case "<=":
      return { $lte: [get(field), literal(value)] }
  }
}

function wrongValue(field: string, operator: string, wanted: string): ToolError {
  return new ToolError(`where: "${field}" with the operator "${operator}" takes ${wanted}`)
}

function contains(path: string, text: string): Operand {
  return { $contains: { input: get(path), substr: literal(text), case_insensitive: true } }
}

/** A payload's text is JSON, in which a sign may stand as itself or as an escape. */
function containsInPayload(path: string, text: string): Operand {
  const escaped = JSON.stringify(text).slice(1, -1)
  const ascii = escaped.replaceAll(
    /[\u0080-\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
  return { $or: [...new Set([escaped, ascii])].map((spelling) => contains(path, spelling)) }
}
