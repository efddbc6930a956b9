/**
 * Reads one call of a request without making values of its payloads: finds where each field stands
 * in the body and checks what the fields must be. Errors are those of the reference server, whose
 * validation clients and their tests know (evaluation-store-calls 1.3).
 */
import type { ValidationIssue } from "../errors.ts"
import type { JsonScanner } from "../json/json-scanner.ts"
import { storedTime } from "../storage/traces/stored-time.ts"
import { type CallField, callFields, type CallForm, type FieldKind } from "./call-fields.ts"

export type Location = readonly (string | number)[]

/** Where a value stands in the body: the first byte of it and one past the last. */
export interface Span {
  start: number
  end: number
}

export interface CallItem {
  form: CallForm
  /** By the field's name; absent ones and nulls are left out. */
  spans: ReadonlyMap<string, Span>
  /** The values of the fields that are not payloads, by name; times as they are stored. */
  values: ReadonlyMap<string, string>
}

const quote = 0x22
const openBrace = 0x7b
const letterN = 0x6e

const byName = new Map(
  (["start", "end", "complete"] as const).map((form) => [
    form,
    new Map(callFields[form].map((field) => [field.name, field])),
  ]),
)

/**
 * Consumes the value at the scanner, which stands at `location` of the body.
 * Findings are added to `issues`; then the item is not to be used.
 * @throws {JsonTextError}
 */
export function readCallItem(
  scanner: JsonScanner,
  form: CallForm,
  location: Location,
  issues: ValidationIssue[],
): CallItem {
  const spans = new Map<string, Span>()
  const values = new Map<string, string>()
  if (!scanner.isObject()) {
    scanner.skip()
    issues.push(
      issue(location, "model_attributes_type", "Input should be a valid dictionary or object to extract fields from"),
    )
    return { form, spans, values }
  }
  const nulls = readMembers(scanner, byName.get(form) as ReadonlyMap<string, CallField>, spans)
  for (const field of callFields[form]) {
    const span = spans.get(field.name)
    if (span !== undefined) checkField(scanner.bytes, field, span, values, location, issues)
    else if (field.required && nulls.has(field.name)) issues.push(wrongType(field, location))
    else if (field.required) issues.push(issue([...location, field.name], "missing", "Field required"))
  }
  return { form, spans, values }
}

/** Fills `spans`, the last of equal keys winning, as in every JSON reader; returns the names whose value is null. */
function readMembers(
  scanner: JsonScanner,
  fields: ReadonlyMap<string, CallField>,
  spans: Map<string, Span>,
): Set<string> {
  const nulls = new Set<string>()
  if (!scanner.enterObject()) return nulls
  do {
    const name = scanner.key()
    const first = scanner.peek()
    const start = scanner.at
    scanner.skip()
    if (!fields.has(name)) continue
    if (first === letterN) {
      spans.delete(name)
      nulls.add(name)
    } else spans.set(name, { start, end: scanner.at })
  } while (scanner.nextMember())
  return nulls
}

function checkField(
  bytes: Buffer,
  field: CallField,
  span: Span,
  values: Map<string, string>,
  location: Location,
  issues: ValidationIssue[],
): void {
  const first = bytes[span.start]
  const { kind } = field
  if (kind === "payload") return
  if (kind === "payload_object") {
    if (first !== openBrace) issues.push(wrongType(field, location))
    return
  }
  const value = plainValue(bytes, kind, span)
  if (value === null) issues.push(wrongType(field, location))
  else values.set(field.name, value)
}

/** As it is stored; null: not of this kind. */
function plainValue(bytes: Buffer, kind: FieldKind, span: Span): string | null {
  if (kind === "integer") return integerOf(bytes, span)
  const text = textOf(bytes, span)
  return kind === "time" && text !== null ? storedTime(text) : text
}

/** The string that stands at `span`, without lone surrogates, which no store can hold; null: not a string. */
function textOf(bytes: Buffer, span: Span): string | null {
  if (bytes[span.start] !== quote) return null
  const token = bytes.toString("utf8", span.start + 1, span.end - 1)
  return token.includes("\\") ? (JSON.parse(`"${token}"`) as string).toWellFormed() : token
}

/** A whole number of 64 bits, also written as `5.0` or `"5"`. */
function integerOf(bytes: Buffer, span: Span): string | null {
  const token = textOf(bytes, span) ?? bytes.toString("latin1", span.start, span.end)
  const digits = /^(-?\d+)(?:\.0+)?$/.exec(token)?.[1]
  if (digits === undefined) return null
  return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits) ? digits : null
}

const wrongTypes: Partial<Record<FieldKind, [type: string, message: string]>> = {
  time: ["datetime_parsing", "Input should be a valid datetime in ISO 8601, from 1900 to 2299"],
  integer: ["int_parsing", "Input should be a valid integer"],
  payload_object: ["dict_type", "Input should be a valid dictionary"],
}

function wrongType(field: CallField, location: Location): ValidationIssue {
  const [type, message] = wrongTypes[field.kind] ?? ["string_type", "Input should be a valid string"]
  return issue([...location, field.name], type, message)
}

export function issue(location: Location, type: string, msg: string): ValidationIssue {
  return { loc: [...location], msg, type }
}
