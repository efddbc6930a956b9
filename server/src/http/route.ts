/**
 * A route is data: where it is, who may call it, what it takes and gives, and one function.
 * `register-routes.ts` turns a list of them into Fastify routes, `openapi.ts` into the document.
 */
import type { FastifyReply, FastifyRequest } from "fastify"
import type { z } from "zod"
import type { RouteAccess } from "../wire/platform/access.ts"
import type { HeldBody } from "./bodies/body-budget.ts"
import type { Principal } from "./principal.ts"

/**
 * How errors of this route are written (law 4): `detail` for the training API, `openai` for chat
 * (on 422 with `detail` beside it), `anthropic` for messages, `reason` for the evaluation store, `graphql` for sign-in, `otlp` for
 * OpenTelemetry (in the encoding of the request), `jsonrpc` for tools of agents.
 */
export type ErrorDialect = "detail" | "openai" | "anthropic" | "reason" | "graphql" | "otlp" | "jsonrpc"

/**
 * `public`: no key needed, and a wrong one does no harm. `admin`: a key of an administrator of the server, with every scope.
 * Else the right that the caller needs and what it is about; the handler's principal carries the right, and `access/`
 * asks for it when the handler looks the project up. Fields of GraphQL and tools of agents name each their own.
 */
export type Access = "public" | "admin" | RouteAccess | { fields: Readonly<Record<string, RouteAccess>> }

export interface RouteSchemas {
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
}

type Parsed<S, K extends keyof RouteSchemas> = S extends Record<K, infer T extends z.ZodType> ? z.output<T> : undefined

export interface RouteContext<S extends RouteSchemas = RouteSchemas> {
  params: Parsed<S, "params">
  query: Parsed<S, "query">
  body: Parsed<S, "body">
  /** The body as it came, unchecked: for parts whose numbers must keep their spelling (law 3). */
  exactBody: () => unknown
  /** Never null but on `public` routes, whose handlers take no principal or check it. */
  principal: Principal
  requestId: string
  /** Memory that the body takes: a handler with `streamsBody` reports it itself. */
  held: HeldBody
  /** Fires when the client goes away. */
  signal: AbortSignal
  request: FastifyRequest
  reply: FastifyReply
}

export interface Route<S extends RouteSchemas = RouteSchemas> {
  method: "GET" | "POST" | "PUT" | "DELETE"
  /** Fastify path, with `:name` for parameters. A trailing slash is accepted too. */
  path: string
  access: Access
  /** Of a `public` route: its principal is who brings a key or a session that lives, and null for everybody else. */
  tellsMoreToCallers?: true
  dialect: ErrorDialect
  /** One line for the reference page. */
  summary: string
  /** Heading it stands under on the reference page. */
  tag: string
  schemas: S
  /** The body of a 200 answer, for the document and the tests; not checked on the hot path. */
  response: z.ZodType
  /** Content types that a 200 answer may have; by default JSON. Of JSON Lines, `response` is one line. */
  answerTypes?: readonly string[]
  /** By status, answers besides 200 that are no errors of the dialect. */
  otherAnswers?: Readonly<Record<number, { description: string; schema: z.ZodType }>>
  /** Errors besides those of all routes of its kind, for the document. */
  refusals?: readonly ("401" | "403" | "404" | "429")[]
  /** The body is not parsed: the handler reads `request.raw` as a stream. */
  streamsBody?: boolean
  /** The body is decoded but not parsed: the handler gets its bytes, and `schemas.body` is not given. */
  rawBody?: boolean
  /** The handler gets stars where the body, which it does not stream, has the key of its request. For what others may read. */
  hidesKey?: true
  /** Limit on a body held in memory. Default: 32 MiB with `rawBody`, else the limit `json_body_bytes`. */
  maximumBodyBytes?: number
  /** Limit on the values of a parsed body. Default: the limit `json_body_values`. */
  maximumBodyValues?: number
  /** With `streamsBody` and `rawBody`: what the body must be, for the document. */
  bodyDocument?: z.ZodType
  /** Content type of the body, for the document; by default JSON, or a form when a field holds bytes. */
  bodyType?: string
  /** For answers whose lines must leave as soon as they are made, and for files, whose length is told before they come. */
  isUncompressed?: boolean
  /** Another method is answered 405, not 404 as elsewhere: clients of this path's protocol try them, and tell the two apart. */
  isOnlyMethod?: true
  /** Returns the 200 body, or answers through `reply` and returns undefined. */
  handle: (context: RouteContext<S>) => Promise<unknown>
}

/** A route whose handler gets the bytes of the body. */
interface RawRoute<S extends RouteSchemas> extends Omit<Route<S>, "rawBody" | "handle"> {
  rawBody: true
  handle: (context: Omit<RouteContext<S>, "body"> & { body: Buffer }) => Promise<unknown>
}

/** Keeps the types of the schemas for `handle`; returns its argument. */
export function route<S extends RouteSchemas>(definition: RawRoute<S>): Route
export function route<S extends RouteSchemas>(definition: Route<S>): Route
export function route(definition: Route | RawRoute<RouteSchemas>): Route {
  return definition as Route
}
