/**
 * The public API, asked as any client asks it: each request goes through the same routes with the caller's key, so its rights,
 * limits, turns and quotas are those of every other request. There is no second door.
 */
import type { InjectOptions, LightMyRequestResponse } from "fastify"
import { parseExact } from "../json/exact-json.ts"
import { JsonTextError } from "../json/json-text-error.ts"
import { countValues } from "../json/value-count.ts"
import { ToolError } from "./tool.ts"

export type Inject = (options: InjectOptions) => Promise<LightMyRequestResponse>

interface ApiCaller {
  key: string
  /** Address of the client. */
  ip: string
  /** Fires when the client goes away. */
  signal: AbortSignal
}

interface ApiRequest {
  method: "GET" | "POST"
  path: string
  query?: Readonly<Record<string, string | number | readonly string[] | null | undefined>>
  body?: object
}

/** Of one answer of the API; more is not read. */
const mostBytes = 8 * 1024 * 1024
/** Of those bytes: it is parsed on the thread that serves everybody. A trace of 5,000 calls has fewer. */
const mostValues = 200_000

/** Lines of an answer, as many as were read. */
interface ApiLines<T> {
  lines: T[]
  /** The answer went on. */
  isCut: boolean
}

export class Api {
  readonly #inject: Inject
  readonly #caller: ApiCaller

  constructor(inject: Inject, caller: ApiCaller) {
    this.#inject = inject
    this.#caller = caller
  }

  /** @throws {ToolError} what the API says, or that its answer is too large. */
  async json<T = unknown>(request: ApiRequest): Promise<T> {
    const { text, isCut } = await this.#text(request)
    if (!isCut && countValues(text) <= mostValues) return parseExact(text) as T
    throw new ToolError(
      `the answer of ${request.method} ${request.path} is larger than ${mostBytes} bytes or ${mostValues} values; ` +
        "ask for less, or read it from the API",
    )
  }

  /** JSON Lines. @throws {ToolError} what the API says. */
  async lines<T = unknown>(request: ApiRequest): Promise<ApiLines<T>> {
    const { text, isCut } = await this.#text(request)
    const all = text.split("\n")
    // What stands behind the last end of a line is not whole.
    if (isCut) all.pop()
    let values = 0
    const cut = all.findIndex((line) => (values += countValues(line)) > mostValues)
    const lines = (cut === -1 ? all : all.slice(0, cut)).filter((line) => line !== "")
    return { lines: lines.map((line) => parseExact(line) as T), isCut: isCut || cut !== -1 }
  }

  async #text({ method, path, query = {}, body }: ApiRequest): Promise<{ text: string; isCut: boolean }> {
    const { key, ip, signal } = this.#caller
    const leaving = new AbortController()
    const answer = await this.#inject({
      method,
      url: `${path}${searchOf(query)}`,
      remoteAddress: ip,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      payloadAsStream: true,
      signal: AbortSignal.any([signal, leaving.signal]),
    })
    const { text, isCut } = await beginningOf(answer.stream()).catch((error: unknown) => {
      if (signal.aborted) throw error
      throw new ToolError("the answer of the API broke off; the server's log has why. Ask again")
    })
    // Nobody goes on working for what is not read.
    if (isCut) leaving.abort()
    if (answer.statusCode !== 200) throw new ToolError(refusalOf(answer, text), answer.statusCode)
    return { text, isCut }
  }
}

async function beginningOf(stream: AsyncIterable<Buffer>): Promise<{ text: string; isCut: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes) break
  }
  return { text: Buffer.concat(chunks).toString("utf8"), isCut: bytes > mostBytes }
}

/**
 * A part of a path out of a value that a client sent.
 * @throws {ToolError} for what would lead to another path.
 */
export function pathPart(name: string, value: string): string {
  if (value !== "" && value !== "." && value !== "..") return encodeURIComponent(value.toWellFormed())
  throw new ToolError(`${name}: "${value}" is no name or id`)
}

function searchOf(query: NonNullable<ApiRequest["query"]>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== null && one !== undefined) search.append(name, String(one))
  }
  return search.size === 0 ? "" : `?${search.toString()}`
}

/** What an answer of any dialect says in words. */
function refusalOf({ statusCode, headers }: LightMyRequestResponse, text: string): string {
  const wait = headers["retry-after"]
  const later = wait === undefined ? "" : `; try again in ${wait} s`
  return `${wordsOf(text)} (status ${statusCode})${later}`
}

interface AnyError {
  detail?: string | { loc: (string | number)[]; msg: string }[]
  reason?: string
  error?: { message?: string }
}

function wordsOf(text: string): string {
  try {
    const { detail, reason, error } = parseExact(text) as AnyError
    const issues = Array.isArray(detail) ? detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ") : detail
    return issues ?? reason ?? error?.message ?? text.slice(0, 500)
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return text.slice(0, 500)
    throw thrown
  }
}
