/**
 * Answers what Node's parser takes for no request, and no route ever sees. By itself Node closes such a connection, and Fastify
 * answers in a form of its own; here the answer has the form of every other error (law 4).
 */
import type { FastifyInstance, FastifyRequest } from "fastify"
import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { HeddleError } from "../../errors.ts"
import { errorBody, statusIn } from "./error-dialects.ts"
import { dialectOfPath } from "./error-handlers.ts"

/** An error of Node's event `clientError`. */
interface ParserError extends Error {
  code?: string
  /** Such as "Invalid method encountered". */
  reason?: string
  /** The bytes in which the parser gave up, and how many of them it had read. */
  rawPacket?: Buffer
  bytesParsed?: number
}

/** A request that is under way: it has not come whole, or its answer has not left whole. */
interface Exchange {
  url: string
  request: IncomingMessage
  answer: ServerResponse
}

const headers = {
  "content-type": "application/json; charset=utf-8",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  connection: "close",
}
/** Characters that are shown of the line at fault. */
const longestLine = 100

export class UnreadableRequests {
  readonly #pathOf: (url: string) => string
  /** By connection, in order: several where a client does not wait for answers. */
  readonly #exchanges = new WeakMap<Socket, Set<Exchange>>()

  /** `pathOf`: the part of an address that the routes know. */
  constructor(pathOf: (url: string) => string) {
    this.#pathOf = pathOf
  }

  /** Node answers two kinds of requests itself, without a body: those without the header Host, and with an unknown Expect. */
  watch(server: FastifyInstance): void {
    server.addHook("onRequest", async (request) => requireHost(request))
    // Ahead of Fastify, whose hooks run when the parser may have given up on the body already.
    server.server.prependListener("request", (request, answer) => this.#follow(request, answer))
    // RFC 9110, 10.1.1: a server may ignore what it does not know.
    server.server.on("checkExpectation", (request, response) => server.server.emit("request", request, response))
  }

  #follow(request: IncomingMessage, answer: ServerResponse): void {
    const exchange = { url: request.url ?? "/", request, answer }
    const exchanges = this.#exchanges.getOrInsertComputed(request.socket, () => new Set())
    exchanges.add(exchange)
    // A connection may stay idle for long, and would keep in memory what was asked and answered on it.
    const forget = () => {
      if (request.complete && answer.writableFinished) exchanges.delete(exchange)
    }
    request.once("close", forget)
    answer.once("close", forget)
  }

  /** For Fastify's `clientErrorHandler`. */
  readonly answer = (thrown: Error, socket: Socket): void => {
    const error: ParserError = thrown
    const exchanges = [...(this.#exchanges.get(socket) ?? [])]
    const hasBegun = exchanges.some(({ answer }) => answer.headersSent)
    // Nothing may stand in the middle of an answer that has begun, nor behind one as if it were the next.
    if (error.code === "ECONNRESET" || !socket.writable || hasBegun) return void socket.destroy(error)
    const newest = exchanges.at(-1)
    const dialect = dialectOfPath(this.#pathOf(newest?.url ?? urlIn(error)))
    const refusal = refusalOf(error, newest?.request.complete === false)
    const status = statusIn(dialect, refusal)
    const body = JSON.stringify(errorBody(refusal, dialect))
    const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    // Where a next request would begin is not known, so the connection ends.
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`, () => socket.destroy())
  }
}

function urlIn({ rawPacket }: ParserError): string {
  return /^[A-Z]+ (\/\S*)/.exec(rawPacket?.toString("latin1") ?? "")?.[1] ?? "/"
}

/** RFC 9112, 3.2. */
function requireHost({ raw: { httpVersion, headers: sent } }: FastifyRequest): void {
  if (httpVersion === "1.1" && sent.host === undefined) {
    throw new HeddleError("bad_request", "the request has no header Host; send one, as HTTP/1.1 needs it")
  }
}

function refusalOf(error: ParserError, isInBody: boolean): HeddleError {
  const { code, reason, message } = error
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new HeddleError("request_timeout", "the head of the request did not arrive in time; send it again")
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new HeddleError(
      "headers_too_large",
      `the address and the headers have more than ${maxHeaderSize} bytes together; send fewer or shorter ones`,
    )
  }
  const line = faultyLine(error)
  const what = `${reason ?? message}${line === "" ? "" : `, at ${JSON.stringify(line.slice(0, longestLine))}`}`
  if (isInBody) {
    return new HeddleError("bad_request", `the request body does not come as its headers say: ${what}; send it whole`)
  }
  return new HeddleError(
    "bad_request",
    `this is no HTTP/1.1: ${what}; send a line such as "GET /health HTTP/1.1", then headers and an empty line`,
  )
}

/** The line in which the parser gave up, as far as it came in the same packet; "": nothing of it did. */
function faultyLine({ rawPacket, bytesParsed = 0 }: ParserError): string {
  const packet = rawPacket?.toString("latin1") ?? ""
  const start = packet.lastIndexOf("\n", bytesParsed - 1) + 1
  return (packet.slice(start).split("\n", 1)[0] ?? "").replace(/\r$/, "")
}
