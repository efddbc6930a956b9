/** The body as its route wants it: raw bytes, or parsed JSON. */
import type { FastifyRequest } from "fastify"
import { HeddleError } from "../../errors.ts"
import { mayChangeNumbers, parseExact } from "../../json/exact-json.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { countValues } from "../../json/value-count.ts"
import type { HeldBody } from "./body-budget.ts"
import { keyOf } from "../principal.ts"
import type { Route } from "../route.ts"
import { hideKey } from "./hidden-key.ts"
import { parseJson, parseTolerantly, wholeBody } from "./whole-body.ts"

const mebibyte = 1024 * 1024

/** Heap per parsed value: 8 bytes for a small number, 20 to 70 for an object, a list or a string. */
const bytesOfValue = 64

/** Bodies that a handler gets as bytes: batches of calls, tables, spans. Calls 1.1 asks for as many. */
const maximumRawBytes = 32 * mebibyte

declare module "fastify" {
  interface FastifyRequest {
    /** Set when parsing may have changed a number of the body. */
    exactBody: (() => unknown) | null
  }
}

/** Whether there is something to read. */
export function bringsBody(route: Route, { headers }: FastifyRequest): boolean {
  if (route.method === "GET") return false
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
}

/**
 * The bytes for a route with `rawBody`, parsed JSON for others; undefined: empty. Parsed JSON is made, checked and walked
 * through on the thread that serves everybody, which is why it has tighter limits.
 * @throws {HeddleError} as {@link wholeBody}, 413 too many values, and 400 not JSON.
 * @throws {JsonTextError} nested too deep.
 */
export async function readBody(route: Route, request: FastifyRequest, held: HeldBody): Promise<unknown> {
  const { limits } = request.server
  const usualBytes = route.rawBody === true ? maximumRawBytes : limits.json_body_bytes
  const bytes = await wholeBody(request.raw, route.maximumBodyBytes ?? usualBytes, held)
  const key = route.hidesKey === true ? keyOf(request.headers) : null
  if (key !== null) hideKey(bytes, key)
  if (route.rawBody === true) return bytes
  const text = bytes.toString("utf8")
  const values = countValues(text)
  const mostValues = route.maximumBodyValues ?? limits.json_body_values
  if (values > mostValues) throw tooManyValues(mostValues)
  await held.take(values * bytesOfValue)
  const isTolerant = route.dialect === "reason"
  if (mayChangeNumbers(text)) request.exactBody = () => parseExact(isTolerant ? withoutNotFinite(text) : text)
  return isTolerant ? parseTolerantly(text) : parseJson(text)
}

function tooManyValues(most: number): HeddleError {
  const message = `Request too large: the body has more than ${most} values. Send it in smaller parts`
  return new HeddleError("payload_too_large", message)
}
