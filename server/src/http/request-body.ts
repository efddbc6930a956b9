/** What of a request's body its route asks for: its bytes, or what they say as JSON. */
import type { FastifyRequest } from "fastify"
import { mayChangeNumbers, parseExact } from "../json/exact-json.ts"
import { withoutNotFinite } from "../json/json-parts.ts"
import { countValues } from "../json/value-count.ts"
import type { HeldBody } from "./body-budget.ts"
import type { ErrorDialect, Route } from "./route.ts"
import { parseJson, parseTolerantly, wholeBody } from "./whole-body.ts"

const mebibyte = 1024 * 1024

/** What a parsed value takes on V8's heap beside its text: 8 bytes a small number, 20 to 70 an object, a list or a string. */
const bytesOfValue = 64

/** Bodies that are held in memory; routes with `streamsBody` have their own limit. Evaluation store: calls 1.1. */
const maximumBytes: Record<ErrorDialect, number> = {
  detail: 64 * mebibyte,
  openai: 64 * mebibyte,
  reason: 32 * mebibyte,
  otlp: 32 * mebibyte,
  graphql: mebibyte,
}

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
 * The bytes for a route with `rawBody`, parsed JSON for others; undefined: empty.
 * @throws {HeddleError} as {@link wholeBody}, and 400 not JSON.
 * @throws {JsonTextError} nested too deep.
 */
export async function readBody(route: Route, request: FastifyRequest, held: HeldBody): Promise<unknown> {
  const limit = route.maximumBodyBytes ?? maximumBytes[route.dialect]
  const bytes = await wholeBody(request.raw, limit, held)
  if (route.rawBody === true) return bytes
  const text = bytes.toString("utf8")
  await held.take(countValues(text) * bytesOfValue)
  const isTolerant = route.dialect === "reason"
  if (mayChangeNumbers(text)) request.exactBody = () => parseExact(isTolerant ? withoutNotFinite(text) : text)
  return isTolerant ? parseTolerantly(text) : parseJson(text)
}
