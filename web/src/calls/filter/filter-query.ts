/** A filter as the API takes it. What a plain filter of the API can say is said with it, since that needs no reading of payloads. */
import type { CallsFilter, CallsQuery } from "../../api/calls/calls.ts"
import { type FilterField, durationOf, fieldOf, statuses, timeOf } from "./filter-fields.ts"
import type { Clause, FilterValue } from "./filter-text.ts"

export type Selection = Pick<CallsQuery, "filter" | "query">
type Operand = object

export interface Scope {
  projectId: string
  rootsOnly: boolean
  /** Unix seconds; both ends are part of it. */
  from?: number | undefined
  to?: number | undefined
}

const get = (path: string): Operand => ({ $getField: path })
const literal = (value: unknown): Operand => ({ $literal: value })
const isMissing = (path: string): Operand => ({ $eq: [get(path), literal(null)] })
const not = (operand: Operand): Operand => ({ $not: [operand] })
const anyOf = (operands: readonly Operand[]): Operand =>
  operands.length === 1 && operands[0] ? operands[0] : { $or: operands }

export function selectionOf(clauses: readonly Clause[], { projectId, rootsOnly, from, to }: Scope): Selection {
  const filter: CallsFilter = rootsOnly ? { trace_roots_only: true } : {}
  const operands: Operand[] = []
  for (const clause of clauses) {
    const ops = filter.op_names == null ? opNames(clause, projectId) : null
    if (ops === null) operands.push(operandOf(clause))
    else filter.op_names = ops
  }
  if (from !== undefined) operands.push({ $gte: [get("started_at"), literal(from)] })
  if (to !== undefined) operands.push({ $lte: [get("started_at"), literal(to)] })
  return { filter, ...(operands.length === 0 ? {} : { query: { $expr: { $and: operands } } }) }
}

function opNames({ field, operator, values }: Clause, projectId: string): string[] | null {
  if (field !== "op" || (operator !== "is" && operator !== "in")) return null
  return values.flatMap(({ text }) => spellingsOfOp(text, projectId))
}

/** A function that is traced has a name with its place and version; other clients send the name alone. */
function spellingsOfOp(name: string, projectId: string): string[] {
  return name.startsWith("weave:///") ? [name] : [name, `weave:///${projectId}/op/${name}:*`]
}

function operandOf(clause: Clause): Operand {
  if (clause.field === null)
    return anyOf(["inputs", "output", "exception"].map((path) => contains(path, clause.values[0]?.text ?? "")))
  const field = fieldOf(clause.field)
  if (field === null) throw new Error(`${clause.field} is no field`)
  if (field.kind === "feedback") return feedbackOperand(field.path, clause)
  if (clause.field === "op" && clause.operator !== "contains") {
    const isAny = anyOf(
      clause.values.flatMap(({ text }) => [
        { $eq: [get("op_name"), literal(text)] },
        { $contains: { input: get("op_name"), substr: literal(`/op/${text}:`) } },
      ]),
    )
    return clause.operator === "is not" ? not(isAny) : isAny
  }
  return compare(field.path, field, clause)
}

function compare(path: string, field: FilterField, { operator, values }: Clause): Operand {
  const wanted = values.map((value) => literal(valueOf(value, field.kind)))
  const equal = anyOf(wanted.map((value) => ({ $eq: [get(path), value] })))
  switch (operator) {
    case "is":
    case "in":
      return equal
    // A call without the field is none with that value.
    case "is not":
      return anyOf([not(equal), isMissing(path)])
    case "contains":
      return contains(path, values[0]?.text ?? "")
    case "<":
      return { $lt: [get(path), wanted[0]] }
    case "<=":
      return { $lte: [get(path), wanted[0]] }
    case ">":
      return { $gt: [get(path), wanted[0]] }
    case ">=":
      return { $gte: [get(path), wanted[0]] }
    case "exists":
      return not(isMissing(path))
    case "missing":
      return isMissing(path)
  }
}

/** A payload's text is JSON, in which a sign may stand as itself or as an escape. */
function contains(path: string, text: string): Operand {
  const isPayload = /^(?:inputs|output|attributes|summary)$/.test(path)
  const escaped = JSON.stringify(text).slice(1, -1)
  const ascii = escaped.replaceAll(
    /[\u0080-\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
  const spellings = isPayload ? [...new Set([escaped, ascii])] : [text]
  return anyOf(
    spellings.map((substr) => ({ $contains: { input: get(path), substr: literal(substr), case_insensitive: true } })),
  )
}

/** People, scorers and programs write feedback of one name in different places. */
function feedbackOperand(path: string, clause: Clause): Operand {
  if (path === "")
    return clause.operator === "missing" ? isMissing("feedback.[*].id") : not(isMissing("feedback.[*].id"))
  const [name = "", ...rest] = path.split(".")
  const behind = rest.length === 0 ? "" : `.${rest.join(".")}`
  const places = [
    `feedback.[wandb.annotation.${name}].payload.value${behind}`,
    `feedback.[wandb.runnable.${name}].payload.output${behind}`,
    ...(rest.length === 0 ? [`feedback.[wandb.runnable.${name}].payload.output.${name}`] : []),
    `feedback.[${name}].payload.value${behind}`,
  ]
  const field: FilterField = { kind: "json", path: "", problemOf: () => null }
  const { operator } = clause
  if (operator === "missing") return { $and: places.map(isMissing) }
  if (operator === "is not") return { $and: places.map((place) => compare(place, field, clause)) }
  return anyOf(places.map((place) => compare(place, field, clause)))
}

function valueOf({ text, isQuoted }: FilterValue, kind: FilterField["kind"]): unknown {
  if (kind === "status") return statuses[text as keyof typeof statuses]
  if (kind === "duration") return durationOf(text)
  if (kind === "time") return timeOf(text)
  if (kind !== "json" || isQuoted) return text
  if (text === "true" || text === "false") return text === "true"
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text
  // Digits past 2^53 stay as they were written.
  return Number.isSafeInteger(Number(text)) || text.includes(".") ? Number(text) : JSON.rawJSON(text)
}
