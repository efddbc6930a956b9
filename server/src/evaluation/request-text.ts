/** Bodies whose payloads stay text (law 3): the rest is parsed and checked like any other body. */
import { isUtf8 } from "node:buffer"
import type { z } from "zod"
import { HeddleError } from "../errors.ts"
import { parse } from "../http/validation.ts"
import { JsonTextError } from "../json/json-cursor.ts"
import { type JsonTakers, readParts } from "../json/json-parts.ts"

/**
 * What `schema` makes of the body; the values at the takers' paths are what the takers return.
 * @throws {HeddleError} 400 not JSON; 413 nested too deep; 422 not what the schema wants.
 */
export function readBody<T extends z.ZodType>(schema: T, bytes: Buffer, takers: JsonTakers): z.output<T> {
  if (!isUtf8(bytes)) throw new HeddleError("bad_request", "the request body is not UTF-8")
  return parse(
    schema,
    understood(() => readParts(bytes.toString("utf8"), takers)),
    "body",
  )
}

/** Runs `read`, whose JSON errors are the client's. */
export function understood<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    if (error.kind === "too_deep") throw new HeddleError("payload_too_large", error.message, { cause: error })
    throw new HeddleError("bad_request", `the request body is not JSON: ${error.message}`, { cause: error })
  }
}
