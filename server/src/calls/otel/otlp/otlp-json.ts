/**
 * OTLP/JSON: proto3's JSON with ids in hexadecimal and enumerations as numbers (OTLP 1.x, "JSON
 * Protobuf Encoding"). Names in snake_case and enumerations by name are read too, as any reader of
 * proto3's JSON does; unknown names are ignored.
 */
import { HeddleError } from "../../../errors.ts"
import { exactInteger, mayChangeNumbers, parseExact } from "../../../json/exact-json.ts"
import { type AnyValue, type KeyValue, KeyValueList, maximumValueDepth, ValueTooDeepError } from "./any-value.ts"
import type { Resource, Scope } from "../trace-request.ts"

/** A text that has been checked as an object whose numbers keep their spelling; an empty body is an empty request. */
export function parseOtlpJson(checked: string): JsonMessage {
  if (checked === "") return new JsonMessage({}, "")
  return JsonMessage.of(mayChangeNumbers(checked) ? parseExact(checked) : JSON.parse(checked), "")
}

/** One object of the body; it knows where it stands, so that an error can name the place. */
export class JsonMessage {
  readonly #members: Readonly<Record<string, unknown>>
  readonly #place: string

  constructor(members: object, place: string) {
    this.#members = members as Record<string, unknown>
    this.#place = place
  }

  static of(value: unknown, place: string): JsonMessage {
    if (typeof value !== "object" || value === null || Array.isArray(value) || JSON.isRawJSON(value)) {
      throw new HeddleError(
        "bad_request",
        `${place || "the request body"} is ${formatted(value)}; it must be an object`,
      )
    }
    return new JsonMessage(value, place)
  }

  /** By its name in lowerCamelCase; null and absent are the same. */
  get(name: string): unknown {
    const members = this.#members
    if (Object.hasOwn(members, name)) return members[name] ?? undefined
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return Object.hasOwn(members, snake) ? (members[snake] ?? undefined) : undefined
  }

  text(name: string): string {
    const value = this.get(name) ?? ""
    if (typeof value !== "string") throw this.#wrong(name, value, "a string")
    return value.toWellFormed()
  }

  /** An id; the caller checks its length. */
  hexadecimal(name: string): string {
    return this.text(name).toLowerCase()
  }

  /** 64 bits, as a number or in digits. */
  integer(name: string): bigint {
    const value = this.get(name) ?? 0
    const integer = integerOf(value)
    if (integer === null) throw this.#wrong(name, value, "an integer of 64 bits, as a number or a string")
    return integer
  }

  /** Time in nanoseconds. */
  time(name: string): bigint {
    const value = this.integer(name)
    if (value < 0n) throw this.#wrong(name, String(value), "nanoseconds since 1970")
    return value
  }

  /** 32 bits. */
  count(name: string): number {
    const value = this.integer(name)
    if (value !== BigInt.asUintN(32, value)) throw this.#wrong(name, String(value), "a number from 0 to 4294967295")
    return Number(value)
  }

  /** By number, or by name with or without its prefix: `2`, `SPAN_KIND_SERVER`. */
  enumeration(name: string, prefix: string, names: readonly string[]): number {
    const value = this.get(name)
    if (typeof value !== "string" || /^\d+$/.test(value)) return this.count(name)
    const number = names.indexOf(value.startsWith(prefix) ? value.slice(prefix.length) : value)
    if (number === -1) throw this.#wrong(name, value, `one of ${names.map((one) => prefix + one).join(", ")}`)
    return number
  }

  message<T>(name: string, read: (message: JsonMessage) => T, absent: () => T): T {
    const value = this.get(name)
    return value === undefined ? absent() : read(JsonMessage.of(value, this.#path(name)))
  }

  list<T>(name: string, read: (message: JsonMessage) => T): T[] {
    return this.elements(name).map((value, index) => read(JsonMessage.of(value, `${this.#path(name)}[${index}]`)))
  }

  elements(name: string): unknown[] {
    const value = this.get(name) ?? []
    if (!Array.isArray(value)) throw this.#wrong(name, value, "an array")
    return value as unknown[]
  }

  attributes(): KeyValue[] {
    return this.list("attributes", (one) => one.keyValue(0))
  }

  keyValue(depth: number): KeyValue {
    return {
      key: this.text("key"),
      value: this.message(
        "value",
        (one) => one.anyValue(depth + 1),
        () => null,
      ),
    }
  }

  /** @throws {ValueTooDeepError} */
  anyValue(depth: number): AnyValue {
    if (depth > maximumValueDepth) throw new ValueTooDeepError()
    if (this.get("stringValue") !== undefined) return this.text("stringValue")
    if (this.get("intValue") !== undefined) return BigInt.asIntN(64, this.integer("intValue"))
    if (this.get("boolValue") !== undefined) return this.#boolean("boolValue")
    if (this.get("doubleValue") !== undefined) return this.#double("doubleValue")
    if (this.get("bytesValue") !== undefined) return Buffer.from(this.text("bytesValue"), "base64")
    if (this.get("arrayValue") !== undefined) {
      return this.message(
        "arrayValue",
        (one) => one.list("values", (value) => value.anyValue(depth + 1)),
        () => [],
      )
    }
    if (this.get("kvlistValue") === undefined) return null
    const read = (one: JsonMessage) => one.list("values", (value) => value.keyValue(depth))
    return new KeyValueList(this.message("kvlistValue", read, () => []))
  }

  #boolean(name: string): boolean {
    const value = this.get(name)
    if (typeof value !== "boolean") throw this.#wrong(name, value, "true or false")
    return value
  }

  #double(name: string): number {
    const value = this.get(name)
    const number = JSON.isRawJSON(value) ? Number(value.rawJSON) : value
    if (typeof number === "number") return number
    const named = typeof number === "string" ? doubleOf(number) : null
    if (named === null) throw this.#wrong(name, value, "a number")
    return named
  }

  #path(name: string): string {
    return this.#place === "" ? name : `${this.#place}.${name}`
  }

  #wrong(name: string, value: unknown, wanted: string): HeddleError {
    return new HeddleError("bad_request", `${this.#path(name)} is ${formatted(value)}; it must be ${wanted}`)
  }
}

/** `"NaN"`, `"Infinity"`, `"-Infinity"`, or a number in a string; null: none of them. */
function doubleOf(text: string): number | null {
  if (text === "NaN") return Number.NaN
  const number = text.trim() === "" ? Number.NaN : Number(text)
  return Number.isNaN(number) ? null : number
}

function integerOf(value: unknown): bigint | null {
  if (typeof value === "number" || JSON.isRawJSON(value)) {
    const number = JSON.isRawJSON(value) ? Number(value.rawJSON) : value
    return Number.isInteger(number) ? bounded(exactInteger(value)) : null
  }
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? bounded(BigInt(value)) : null
}

/** Signed or unsigned: times are unsigned. */
function bounded(value: bigint): bigint | null {
  return value === BigInt.asIntN(64, value) || value === BigInt.asUintN(64, value) ? value : null
}

function formatted(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

export function jsonResource(message: JsonMessage): Resource {
  return { attributes: message.attributes(), droppedAttributesCount: message.count("droppedAttributesCount") }
}

export function jsonScope(message: JsonMessage): Scope {
  return { name: message.text("name"), version: message.text("version"), attributes: message.attributes() }
}
