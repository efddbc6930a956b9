/**
 * Reads one call of a request without making values of its payloads: finds where each field stands
 * in the body and checks what the fields must be. Errors are those of the reference server, whose
 * validation clients and their tests know (evaluation-store-calls 1.3).
 */
import type { ValidationIssue } from "../../errors.ts"
import type { JsonScanner } from "../../json/json-scanner.ts"
import { KeyTable } from "../../json/key-table.ts"
import { storedTime } from "../../storage/traces/stored-time.ts"
import { type CallField, callFields, type CallForm, type FieldKind } from "./call-fields.ts"

export type Location = readonly (string | number)[]

/** Its fields are told by their index in {@link callFields}; absent ones and nulls are the same. */
export interface CallItem {
  form: CallForm
  /** At 2 i the first byte of field i in the body, at 2 i + 1 one past its last; both 0: absent. */
  spans: number[]
  /** Values of the fields that are not payloads; times in the stored form. */
  values: readonly (string | undefined)[]
  /** Whether it holds what ClickHouse's JSON reader refuses; see `JsonScanner.sawUnreadable`. */
  unreadable: boolean
}

/** Of absent fields. A copy of a list costs less than a typed array, whose memory lies outside V8's heap. */
const noSpans: Readonly<Record<CallForm, readonly number[]>> = {
  start: callFields.start.flatMap(() => [0, 0]),
  end: callFields.end.flatMap(() => [0, 0]),
  complete: callFields.complete.flatMap(() => [0, 0]),
}

const quote = 0x22
const openBrace = 0x7b
const letterN = 0x6e

const keyTables: Readonly<Record<CallForm, KeyTable>> = {
  start: new KeyTable(callFields.start.map(({ name }) => name)),
  end: new KeyTable(callFields.end.map(({ name }) => name)),
  complete: new KeyTable(callFields.complete.map(({ name }) => name)),
}

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
  const spans = [...noSpans[form]]
  const values: (string | undefined)[] = []
  if (!scanner.isObject()) {
    scanner.skip()
    addIssue(issues, notAnObject(location))
    return { form, spans, values, unreadable: false }
  }
  scanner.sawUnreadable = false
  readMembers(scanner, keyTables[form], spans)
  for (const field of callFields[form]) {
    const from = 2 * field.index
    const start = spans[from] as number
    const end = spans[from + 1] as number
    let value: string | undefined
    if (start === 0) {
      if (field.required) addIssue(issues, missing(field, location))
    } else if (scanner.bytes[start] === letterN) {
      if (field.required) addIssue(issues, wrongType(field, location))
      spans.fill(0, from, from + 2)
    } else if (isPayload(field)) {
      if (field.kind === "payload_object" && scanner.bytes[start] !== openBrace)
        addIssue(issues, wrongType(field, location))
    } else {
      value = plainValue(scanner.bytes, field.kind, start, end)
      if (value === undefined) addIssue(issues, wrongType(field, location))
    }
    values.push(value)
  }
  return { form, spans, values, unreadable: scanner.sawUnreadable }
}

/** Fills `spans`, the last of equal keys winning, as in every JSON reader. */
function readMembers(scanner: JsonScanner, keys: KeyTable, spans: number[]): void {
  if (!scanner.enterObject()) return
  do {
    const index = scanner.keyIn(keys)
    scanner.peek()
    const start = scanner.at
    scanner.skip()
    if (index === -1) continue
    spans[2 * index] = start
    spans[2 * index + 1] = scanner.at
  } while (scanner.nextMember())
}

export function isPayload({ kind }: CallField): boolean {
  return kind === "payload" || kind === "payload_object"
}

/** As it is stored; undefined: not of this kind. */
function plainValue(bytes: Buffer, kind: FieldKind, start: number, end: number): string | undefined {
  if (kind === "integer") return integerOf(bytes, start, end)
  const text = textOf(bytes, start, end)
  return kind === "time" && text !== undefined ? (storedTime(text) ?? undefined) : text
}

/** The string that stands there, without lone surrogates, which no store can hold; undefined: not a string. */
function textOf(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] !== quote) return undefined
  const text = bytes.toString("utf8", start + 1, end - 1)
  if (!text.includes("\\")) return text
  return (JSON.parse(`"${text}"`) as string).toWellFormed()
}

/** A whole number of 64 bits, also written as `5.0` or `"5"`. */
function integerOf(bytes: Buffer, start: number, end: number): string | undefined {
  const token = textOf(bytes, start, end) ?? bytes.toString("latin1", start, end)
  const digits = /^(-?\d+)(?:\.0+)?$/.exec(token)?.[1]
  if (digits === undefined) return undefined
  return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits) ? digits : undefined
}

const wrongTypes: Partial<Record<FieldKind, [type: string, message: string]>> = {
  time: ["datetime_parsing", "Input should be a valid datetime in ISO 8601, from 1900 to 2299"],
  integer: ["int_parsing", "Input should be a valid integer"],
  payload_object: ["dict_type", "Input should be a valid dictionary"],
}

function wrongType({ name, kind }: CallField, location: Location): ValidationIssue {
  const [type, message] = wrongTypes[kind] ?? ["string_type", "Input should be a valid string"]
  return issue([...location, name], type, message)
}

function missing({ name }: CallField, location: Location): ValidationIssue {
  return issue([...location, name], "missing", "Field required")
}

export function notAnObject(location: Location): ValidationIssue {
  return issue(location, "model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
}

/** Told in one answer. */
export const maximumIssues = 50

/** Issues beyond {@link maximumIssues} are dropped: a body may have a million. */
export function addIssue(issues: ValidationIssue[], found: ValidationIssue): void {
  if (issues.length < maximumIssues) issues.push(found)
}

export function issue(location: Location, type: string, msg: string): ValidationIssue {
  return { loc: [...location], msg, type }
}
