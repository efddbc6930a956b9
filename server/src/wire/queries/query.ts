/**
 * The query language: evaluation-store-calls 3.6, evaluation-store-objects 11. The only request
 * object that refuses unknown keys.
 */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { orDefault } from "../or-default.ts"

/** A number whose spelling `JSON.parse` would change, as `parseExact` of `json/` gives it. */
export interface RawNumber {
  readonly rawJSON: string
}

export type LiteralValue =
  | string
  | number
  | boolean
  | null
  | RawNumber
  | LiteralValue[]
  | { [key: string]: LiteralValue }

type Pair = [Operand, Operand]

/** Exactly one key is there: {@link operand}. */
export interface Operand {
  $literal?: LiteralValue | undefined
  $getField?: string | undefined
  $convert?: { input: Operand; to: "double" | "string" | "int" | "bool" | "exists" } | undefined
  $size?: Operand | undefined
  $and?: Operand[] | undefined
  $or?: Operand[] | undefined
  $not?: [Operand] | undefined
  $eq?: Pair | undefined
  $gt?: Pair | undefined
  $gte?: Pair | undefined
  $lt?: Pair | undefined
  $lte?: Pair | undefined
  $in?: [Operand, Operand[]] | undefined
  $contains?: { input: Operand; substr: Operand; case_insensitive?: boolean | null | undefined } | undefined
}

const rawNumber = z.custom<RawNumber>((value) => JSON.isRawJSON(value))
export const literal: z.ZodType<LiteralValue> = z.lazy(() =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    rawNumber,
    boundedList(literal, 10_000),
    z.record(z.string(), literal),
  ]),
)

const anyOperand: z.ZodType<Operand> = z.lazy(() => operand)
/** `$in` may name as many ids as one query looks up. */
const operands = boundedList(anyOperand, 10_000)
const pair = z.tuple([anyOperand, anyOperand])

/** One object with every key optional, not a union: an error then names the place it is at. */
export const operand = z
  .strictObject({
    $literal: literal.optional(),
    $getField: z.string().optional(),
    $convert: z
      .strictObject({ input: anyOperand, to: z.enum(["double", "string", "int", "bool", "exists"]) })
      .optional(),
    $size: anyOperand.optional(),
    $and: operands.optional(),
    $or: operands.optional(),
    $not: z.tuple([anyOperand]).optional(),
    $eq: pair.optional(),
    $gt: pair.optional(),
    $gte: pair.optional(),
    $lt: pair.optional(),
    $lte: pair.optional(),
    $in: z.tuple([anyOperand, operands]).optional(),
    $contains: z
      .strictObject({ input: anyOperand, substr: anyOperand, case_insensitive: z.boolean().nullish() })
      .optional(),
  })
  .refine((value) => Object.keys(value).length === 1, "exactly one operator")

const values = new Set(["$literal", "$getField", "$convert", "$size"])

export const query = z.strictObject({
  $expr: anyOperand.refine(
    (value) => !values.has(Object.keys(value)[0] ?? ""),
    "the root must be an operation such as $eq or $and, not a value",
  ),
})

export const sortBy = z.looseObject({
  field: z.string(),
  /** The seed shows items with only `field`. */
  direction: orDefault(z.enum(["asc", "desc"]), "asc"),
})

/** Each is an expression over every row that matches; tables of a user interface sort by one to three. */
export const mostSortKeys = 20
export const sortKeys = boundedList(sortBy, mostSortKeys)

export type Query = z.output<typeof query>
export type SortBy = z.output<typeof sortBy>
