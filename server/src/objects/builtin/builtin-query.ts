/** The query language as a saved view stores it: weave 0.54.0 `builtin_object_classes/query.py`. */
import { isJsonObject } from "../../json/parsed-json.ts"
import {
  anything,
  boolean,
  type BuiltinClass,
  defaulting,
  type FieldType,
  instanceOf,
  listOf,
  oneOf,
  optional,
  refuse,
  required,
  text,
} from "./builtin-fields.ts"

const modelBases = ["BaseModel"]
const serverBases = ["BaseModelStrict", "BaseModel"]

/** An operand is told by its only key. */
const operand: FieldType = (value, path) => {
  const [key = ""] = isJsonObject(value) ? Object.keys(value) : []
  const builtin = operations.get(key)
  return builtin === undefined
    ? refuse(path, "an operation such as {$eq: …}", value)
    : instanceOf(() => builtin)(value, path)
}

const operands = listOf(operand)

function exactly(count: number): FieldType {
  return (value, path) =>
    Array.isArray(value) && value.length === count
      ? operands(value, path)
      : refuse(path, `a list of ${count} operands`, value)
}

const convertSpec: BuiltinClass = {
  name: "ConvertSpec",
  bases: modelBases,
  fields: { input: required(operand), to: required(oneOf("double", "string", "int", "bool", "exists")) },
}

const containsSpec: BuiltinClass = {
  name: "ContainsSpec",
  bases: modelBases,
  fields: { input: required(operand), substr: required(operand), case_insensitive: defaulting(boolean, false) },
}

const inOperands: FieldType = (value, path) => {
  if (!Array.isArray(value) || value.length !== 2) return refuse(path, "an operand and a list of operands", value)
  return [operand(value[0], `${path}.0`), operands(value[1], `${path}.1`)]
}

const operationTypes: Record<string, [name: string, type: FieldType]> = {
  $literal: ["LiteralOperation", anything],
  $getField: ["GetFieldOperator", text],
  $convert: ["ConvertOperation", instanceOf(() => convertSpec)],
  $size: ["SizeOperation", operand],
  $and: ["AndOperation", operands],
  $or: ["OrOperation", operands],
  $not: ["NotOperation", exactly(1)],
  $eq: ["EqOperation", exactly(2)],
  $gt: ["GtOperation", exactly(2)],
  $lt: ["LtOperation", exactly(2)],
  $gte: ["GteOperation", exactly(2)],
  $lte: ["LteOperation", exactly(2)],
  $in: ["InOperation", inOperands],
  $contains: ["ContainsOperation", instanceOf(() => containsSpec)],
}

const operations = new Map<string, BuiltinClass>(
  Object.entries(operationTypes).map(([key, [name, type]]) => [
    key,
    { name, bases: modelBases, fields: { [key]: required(type) } },
  ]),
)

export const query: BuiltinClass = {
  name: "Query",
  bases: modelBases,
  fields: { $expr: required(operand) },
  closed: true,
}

export const sortBy: BuiltinClass = {
  name: "SortBy",
  bases: serverBases,
  fields: { field: required(text), direction: required(oneOf("asc", "desc")) },
}

const strings = optional(listOf(text))

export const callsFilter: BuiltinClass = {
  name: "CallsFilter",
  bases: serverBases,
  fields: {
    op_names: strings,
    input_refs: strings,
    output_refs: strings,
    parent_ids: strings,
    trace_ids: strings,
    call_ids: strings,
    thread_ids: strings,
    turn_ids: strings,
    trace_roots_only: optional(boolean),
    wb_user_ids: strings,
    wb_run_ids: strings,
  },
}
