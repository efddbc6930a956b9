/** Questions to annotators: a field is an annotation spec, and its JSON schema says how it is answered. */

export interface Option {
  value: unknown
  label: string
}

export interface LabelField {
  /** Name of the spec's object; labels are `wandb.annotation.<name>`. */
  name: string
  ref: string
  title: string
  /** How to decide; empty: nobody wrote it. */
  rule: string
  /** `many`: any number of the options; `json`: of a shape that has no control of its own. */
  kind: "choice" | "many" | "number" | "text" | "json"
  options: readonly Option[]
  /** The options are steps of a scale. */
  isScale: boolean
  /** Smallest number allowed. */
  least: number | null
  most: number | null
  isWhole: boolean
}

interface Schema {
  type?: unknown
  enum?: unknown
  items?: Schema
  minimum?: unknown
  maximum?: unknown
}

interface Spec {
  name?: unknown
  description?: unknown
  field_schema?: Schema | null
}

/** More steps are typed. */
const mostSteps = 11

/** `name`: of the spec's object. null: the object is no annotation spec. */
export function fieldOf(ref: string, name: string, spec: unknown): LabelField | null {
  if (typeof spec !== "object" || spec === null || !("field_schema" in spec)) return null
  const { name: title, description, field_schema } = spec as Spec
  return {
    name,
    ref,
    title: typeof title === "string" && title !== "" ? title : name,
    rule: typeof description === "string" ? description : "",
    ...shapeOf(field_schema ?? {}),
  }
}

type Shape = Omit<LabelField, "name" | "ref" | "title" | "rule">

function shapeOf(schema: Schema): Shape {
  const { type, items } = schema
  const plain: Shape = { kind: "json", options: [], isScale: false, least: null, most: null, isWhole: false }
  const listed = optionsOf(schema)
  if (listed !== null) return { ...plain, kind: "choice", options: listed }
  if (type === "boolean") {
    const options = [
      { value: true, label: "yes" },
      { value: false, label: "no" },
    ]
    return { ...plain, kind: "choice", options }
  }
  if (type === "string") return { ...plain, kind: "text" }
  if (type === "number" || type === "integer") return numberShape(schema, plain)
  const several = type === "array" && items !== undefined ? optionsOf(items) : null
  return several === null ? plain : { ...plain, kind: "many", options: several }
}

function optionsOf({ enum: values }: Schema): Option[] | null {
  if (!Array.isArray(values) || values.length === 0) return null
  return values.map((value: unknown) => ({ value, label: wordOf(value) }))
}

function numberShape({ type, minimum, maximum }: Schema, plain: Shape): Shape {
  const least = typeof minimum === "number" ? minimum : null
  const most = typeof maximum === "number" ? maximum : null
  const isWhole = type === "integer"
  if (isWhole && least !== null && most !== null && most >= least && most - least < mostSteps) {
    const options = Array.from({ length: most - least + 1 }, (_, step) => ({
      value: least + step,
      label: String(least + step),
    }))
    return { ...plain, kind: "choice", options, isScale: true }
  }
  return { ...plain, kind: "number", least, most, isWhole }
}

/** A value as people read it. */
export function wordOf(value: unknown): string {
  if (value === true) return "yes"
  if (value === false) return "no"
  if (Array.isArray(value)) return value.map(wordOf).join(", ")
  return typeof value === "string" ? value : JSON.stringify(value ?? null)
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
