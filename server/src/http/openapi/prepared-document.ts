/**
 * A JSON document that never changes while the server runs. Its bytes are made once for each content coding: made for each
 * request, the 640 KB of the API's document would keep the event loop busy for anyone who asks without a key.
 */
import { Negotiator } from "@fastify/accept-negotiator"
import type { FastifyReply, FastifyRequest } from "fastify"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib"

const compressors = {
  zstd: promisify(zstdCompress),
  gzip: promisify(gzip),
  // The default, 11, takes seconds.
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
}
type Coding = keyof typeof compressors

/** In the order of preference, as of answers that are made for each request. */
const negotiator = new Negotiator({ supportedValues: Object.keys(compressors) })

export class PreparedDocument {
  readonly #bytes: Buffer
  readonly #tag: string
  readonly #compressed = new Map<Coding, Promise<Buffer>>()

  constructor(document: object) {
    this.#bytes = Buffer.from(JSON.stringify(document))
    this.#tag = `"${createHash("sha256").update(this.#bytes).digest("base64url").slice(0, 22)}"`
  }

  /** The answer to a request for it: 304 to a client that has it already. */
  async send({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers({ etag: this.#tag, "cache-control": "no-cache", vary: "accept-encoding" })
    if (headers["if-none-match"]?.includes(this.#tag) === true) return reply.code(304).send()
    reply.type("application/json; charset=utf-8")
    const coding = negotiator.negotiate(headers["accept-encoding"] ?? "identity") as Coding | null
    if (coding === null) return reply.send(this.#bytes)
    return reply.header("content-encoding", coding).send(await this.#in(coding))
  }

  #in(coding: Coding): Promise<Buffer> {
    const known = this.#compressed.get(coding)
    if (known !== undefined) return known
    const made = compressors[coding](this.#bytes)
    this.#compressed.set(coding, made)
    return made
  }
}
