/** The one way to the server: its address, the session's cookie, errors as {@link ApiError}. */
import { addressOf } from "../base-path.ts"
import { ApiError, errorOfResponse, offlineError } from "./api-error.ts"
import { readLineBatches } from "./text-lines.ts"

export type Method = "GET" | "POST" | "PUT" | "DELETE"

/** undefined is left out; a list comes several times. */
export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

export interface Request {
  method: Method
  /** From the server's root, such as `/v1/session`; parts that are not plain words are encoded. */
  path: string
  query?: Query | undefined
  body?: unknown
  /** A body that is JSON text already, with its numbers as they were written, instead of `body`. */
  json?: string
  /** A body that goes as it is, instead of `body`. */
  file?: Blob
  /** Besides those that every request has. */
  headers?: Record<string, string>
  /** A status that is an answer here, and no error. */
  alsoFine?: number
  signal?: AbortSignal | undefined
}

/** @throws {ApiError} also when no answer comes; an abort stays an abort. */
export async function send(request: Request): Promise<Response> {
  const { method, path, query, body, file, headers, alsoFine, signal } = request
  const json = request.json ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(addressOf(path) + queryText(query), {
    method,
    headers: {
      // Only pages of this server can send it: that makes a change by the cookie's right safe.
      "x-heddle-csrf": "1",
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(file === undefined ? {} : { "content-type": "application/octet-stream" }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: json }),
    ...(file === undefined ? {} : { body: file }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause
    throw offlineError(cause)
  })
  if (response.ok || response.status === alsoFine) return response
  throw await errorOfResponse(response)
}

/** For answers whose numbers are small; payloads are read as text (`json/json-text.ts`). */
export async function sendForJson<Answer>(request: Request): Promise<Answer> {
  const response = await send(request)
  return (await response.json()) as Answer
}

/** The lines of an answer in JSON Lines, as text, as they come. A stream that breaks off is an error, not an end. */
export async function* sendForLines(request: Request): AsyncGenerator<string> {
  for await (const lines of sendForLineBatches(request)) yield* lines
}

/** {@link sendForLines}, those that came together together: for answers of many short lines. */
export async function* sendForLineBatches(request: Request): AsyncGenerator<string[]> {
  const { body } = await send(request)
  if (body === null) return
  try {
    yield* readLineBatches(body)
  } catch (cause) {
    if (cause instanceof ApiError || request.signal?.aborted === true) throw cause
    throw offlineError(cause)
  }
}

function queryText(query: Query | undefined): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue
    if (typeof value === "object") for (const each of value) parameters.append(name, each)
    else parameters.append(name, String(value))
  }
  const text = parameters.toString()
  return text === "" ? "" : `?${text}`
}
