/**
 * Answers what Node's parser takes for no request, and no route ever sees. By itself Node closes such a connection, and Fastify
 * answers in a form of its own; here the answer has the form of every other error (law 4).
 */
import type { FastifyInstance, FastifyRequest } from "fastify"
import { maxHeaderSize, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { HeddleError } from "../../errors.ts"
import { errorBody, statusIn } from "./error-dialects.ts"
import { dialectOfPath } from "./error-handlers.ts"

/** An error of Node's event `clientError`. */
interface ParserError extends Error {
  code?: string
  /** Such as "Invalid method encountered". */
  reason?: string
  /** The bytes in which the parser gave up. */
  rawPacket?: Buffer
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
  /** By connection, the newest request on it and its answer. */
  readonly #current = new WeakMap<Socket, { url: string; answer: ServerResponse }>()

  /** `pathOf`: the part of an address that the routes know. */
  constructor(pathOf: (url: string) => string) {
    this.#pathOf = pathOf
  }

  /** Node answers two kinds of requests itself, without a body: those without the header Host, and with an unknown Expect. */
  watch(server: FastifyInstance): void {
    server.addHook("onRequest", async (request) => requireHost(request))
    // Ahead of Fastify, whose hooks run when the parser may have given up on the body already.
    server.server.prependListener("request", ({ socket, url = "/" }, answer) =>
      this.#current.set(socket, { url, answer }),
    )
    // RFC 9110, 10.1.1: a server may ignore what it does not know.
    server.server.on("checkExpectation", (request, response) => server.server.emit("request", request, response))
  }

  /** For Fastify's `clientErrorHandler`. */
  readonly answer = (thrown: Error, socket: Socket): void => {
    const error: ParserError = thrown
    const last = this.#current.get(socket)
    const open = last?.answer.writableFinished === false ? last : null
    // Nothing may stand in the middle of an answer that has begun.
    if (error.code === "ECONNRESET" || !socket.writable || open?.answer.headersSent) return void socket.destroy(error)
    const dialect = dialectOfPath(this.#pathOf(open?.url ?? urlIn(error)))
    const refusal = refusalOf(error)
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

function refusalOf({ code, reason, message, rawPacket }: ParserError): HeddleError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new HeddleError("request_timeout", "the head of the request did not arrive in time; send it again")
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new HeddleError(
      "headers_too_large",
      `the address and the headers have more than ${maxHeaderSize} bytes together; send fewer or shorter ones`,
    )
  }
  const line = faultyLine(rawPacket?.toString("latin1") ?? "")
  const where = line === null ? "" : `, at ${JSON.stringify(line.slice(0, longestLine))}`
  return new HeddleError(
    "bad_request",
    `this is no HTTP/1.1: ${reason ?? message}${where}; send a line such as "GET /health HTTP/1.1", then headers and an empty line`,
  )
}

/** null: not in the head of the request, or not found there. */
function faultyLine(packet: string): string | null {
  const [first = "", ...others] = (packet.split("\r\n\r\n", 1)[0] ?? "").split(/\r?\n/)
  if (!/^[A-Z]+ \S+ HTTP\/1\.[01]$/.test(first)) return first === "" ? null : first
  return others.find((line) => !/^[\w!#$%&'*+.^`|~-]+:/.test(line)) ?? null
}
