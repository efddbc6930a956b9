/**
 * Decimals of Parquet, to the last digit. The reader multiplies them by a power of ten as floating-point numbers, which makes
 * 0.5700000000000001 of 0.57, and other numbers of those with more than 15 digits. So it is kept from knowing what they are: it
 * hands on what is stored, and the numbers are written from that.
 */
import { type FileMetaData, parquetSchema, type SchemaElement, type SchemaTree } from "hyparquet"
import { isListLike, isMapLike } from "hyparquet/src/schema.js"
import { RowError } from "./imported-row.ts"

/** A decimal as a JSON number. */
export class DecimalText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The value of a column, with {@link DecimalText} for each decimal in it. @throws {RowError} */
export type DecimalTexts = (column: string, value: unknown) => unknown

/** By the elements of the schema that are decimals, their digits behind the point. */
type Scales = ReadonlyMap<SchemaElement, number>

/** More than any format of decimals has: 76 digits in 32 bytes. */
const mostScale = 100
const mostBytes = 64

/** Call it before anything is read: it changes types in `metadata`. @throws {Error} for decimals that cannot be any. */
export function decimalTexts(metadata: FileMetaData): DecimalTexts {
  const { children: columns } = parquetSchema(metadata)
  const scales = new Map<SchemaElement, number>()
  for (const column of columns) takeDecimals(column, scales)
  const holdsDecimals = ({ element, children }: SchemaTree): boolean =>
    scales.has(element) || children.some(holdsDecimals)
  const nodes = new Map(columns.filter(holdsDecimals).map((node) => [node.element.name, node] as const))
  return (column, value) => {
    const node = nodes.get(column)
    return node === undefined ? value : withTexts(node, value, scales)
  }
}

function takeDecimals({ element, children }: SchemaTree, scales: Map<SchemaElement, number>): void {
  const { type, converted_type: converted, logical_type: logical } = element
  // What a variant holds is read by its own rules.
  if (logical?.type === "VARIANT") return
  for (const child of children) takeDecimals(child, scales)
  if (converted !== "DECIMAL" && logical?.type !== "DECIMAL") return
  const scale = element.scale ?? (logical?.type === "DECIMAL" ? logical.scale : 0)
  const isWhole = type === "INT32" || type === "INT64" || type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY"
  if (!isWhole || !Number.isInteger(scale) || scale < 0 || scale > mostScale) {
    throw new Error(
      `the column "${element.name}" cannot be decimals of the type ${type} with ${scale} digits after the point`,
    )
  }
  scales.set(element, scale)
  delete element.converted_type
  delete element.logical_type
  // Bytes of any length, of no further type, would be read as text.
  if (type === "BYTE_ARRAY") element.type = "FIXED_LEN_BYTE_ARRAY"
}

function withTexts(node: SchemaTree, value: unknown, scales: Scales): unknown {
  if (value === null || value === undefined) return value
  if (Array.isArray(value)) {
    const item = isListLike(node) ? itemOf(node) : node
    return value.map((one) => withTexts(item, one, scales))
  }
  const scale = scales.get(node.element)
  if (scale !== undefined) return new DecimalText(textOf(unscaled(value), scale))
  if (typeof value !== "object" || node.children.length === 0) return value
  const [entry] = node.children
  const ofMember = (name: string) =>
    isMapLike(node) && entry !== undefined ? childOf(entry, "value") : childOf(node, name)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const child = ofMember(name)
      return [name, child === undefined ? member : withTexts(child, member, scales)]
    }),
  )
}

/** A list has a group that repeats between itself and its items, except in files of old writers. */
function itemOf(list: SchemaTree): SchemaTree {
  const [repeated = list] = list.children
  return repeated.children.length === 1 ? (repeated.children[0] ?? repeated) : repeated
}

function childOf({ children }: SchemaTree, name: string): SchemaTree | undefined {
  return children.find(({ element }) => element.name === name)
}

/** The whole number that is stored: an integer, or bytes in two's complement, the highest first. */
function unscaled(value: unknown): bigint {
  if (typeof value === "bigint" || Number.isInteger(value)) return BigInt(value as number | bigint)
  if (!(value instanceof Uint8Array) || value.length > mostBytes)
    throw new RowError("has a decimal that cannot be read")
  return value.length === 0 ? 0n : BigInt.asIntN(8 * value.length, BigInt(`0x${Buffer.from(value).toString("hex")}`))
}

/** Without zeros at the end of the fraction, as other numbers are printed. */
function textOf(number: bigint, scale: number): string {
  const digits = String(number < 0n ? -number : number).padStart(scale + 1, "0")
  const point = digits.length - scale
  const fraction = digits.slice(point).replace(/0+$/, "")
  return `${number < 0n ? "-" : ""}${digits.slice(0, point)}${fraction === "" ? "" : `.${fraction}`}`
}
