/** Bodies whose payloads stay text (law 3): the rest is parsed and checked like any other body. */
import { isUtf8 } from "node:buffer"
import type { z } from "zod"
import { HeddleError, invalid } from "../../errors.ts"
import { parse } from "../../http/validation.ts"
import type { JsonCursor } from "../../json/json-cursor.ts"
import { type JsonTakers, readParts } from "../../json/json-parts.ts"

/** @throws {HeddleError} 400 not UTF-8. */
export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HeddleError("bad_request", "the request body is not UTF-8")
  return bytes.toString("utf8")
}

/**
 * What `schema` makes of the text of a body; the values at the takers' paths are what the takers return.
 * @throws {JsonTextError} not JSON, or nested too deep: the edge makes 400 and 413 of them.
 * @throws {HeddleError} 422 not what the schema wants.
 */
export function readText<T extends z.ZodType>(schema: T, text: string, takers: JsonTakers): z.output<T> {
  return parse(schema, readParts(text, takers), "body")
}

/** {@link readText} of a body. @throws {HeddleError} also 400 not UTF-8. */
export function readBody<T extends z.ZodType>(schema: T, bytes: Buffer, takers: JsonTakers): z.output<T> {
  return readText(schema, bodyText(bytes), takers)
}

/** A taker of an object's text, or of null; `loc` is where anything else is said to be. */
export function objectTextOrNull(loc: (string | number)[]): (cursor: JsonCursor) => string | null {
  return (cursor) => {
    const kind = cursor.kind()
    const text = cursor.value()
    if (kind === "object") return text
    if (kind === "null") return null
    throw invalid(loc, "Input should be a valid dictionary", "dict_type")
  }
}
