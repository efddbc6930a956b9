/** Answers in zstd, gzip or br where the client takes them. */
import fastifyCompress from "@fastify/compress"
import type { FastifyInstance } from "fastify"
import zlib, { constants } from "node:zlib"

/**
 * JSON and JSON Lines, besides what mime-db calls compressible, such as CSV and `application/octet-stream`: a route that
 * answers a file with its length is therefore `isUncompressed`. Never event streams: each token must leave at once.
 */
const compressible = /^application\/(json|jsonl|x-ndjson)\b/

/** Smaller answers fit into one packet anyway. */
const smallestBytes = 1400

/**
 * What a route has written leaves at once, and not when the compressor has enough for a block: the first lines of a stream are read
 * while the others are still looked for.
 */
const zstdAtOnce = () => zlib.createZstdCompress({ flush: constants.ZSTD_e_flush })

/** Must be awaited before the first route: it is added to each route as that is registered. */
export async function compressAnswers(server: FastifyInstance): Promise<void> {
  await server.register(fastifyCompress, {
    globalDecompression: false,
    threshold: smallestBytes,
    customTypes: compressible,
    // In the order of preference. The levels are those that keep up with the store's reading.
    encodings: ["zstd", "gzip", "br"],
    zlibOptions: { level: 1, flush: constants.Z_SYNC_FLUSH },
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 }, flush: constants.BROTLI_OPERATION_FLUSH },
    zlib: { ...zlib, createZstdCompress: zstdAtOnce },
  })
}
