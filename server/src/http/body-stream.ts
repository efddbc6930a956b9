/** The body of a request as a stream, for routes with `streamsBody`: decoded, and never more than a limit. */
import type { IncomingMessage } from "node:http"
import type { Readable, Transform } from "node:stream"
import { createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { HeddleError } from "../errors.ts"

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  zstd: createZstdDecompress,
}

/**
 * Yields the decoded body. What is not read is thrown away by Node after the answer, so that the
 * client, still sending, gets to read it.
 * @throws {HeddleError} 413 more than `maximumBytes`, encoded or decoded; 415 unknown encoding; 400 broken encoding.
 */
export async function* bodyStream(request: IncomingMessage, maximumBytes: number): AsyncGenerator<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > maximumBytes) throw tooLarge(maximumBytes)
  const source = decoded(request)
  let bytes = 0
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      const buffer = chunk as Buffer
      bytes += buffer.length
      if (bytes > maximumBytes) throw tooLarge(maximumBytes)
      yield buffer
    }
  } catch (error) {
    throw isZlibError(error) ? brokenEncoding(request, error) : error
  } finally {
    if (source !== request) source.destroy()
  }
}

function decoded(request: IncomingMessage): Readable {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase()
  if (encoding === "identity" || encoding === "") return request
  const makeDecoder = decoders[encoding]
  if (makeDecoder === undefined) {
    const known = Object.keys(decoders).join(", ")
    throw new HeddleError(
      "unsupported_media_type",
      `Content-Encoding "${encoding}" is not supported; use one of: ${known}`,
    )
  }
  const decoder = makeDecoder()
  request.once("error", (error) => decoder.destroy(error))
  return request.pipe(decoder)
}

function isZlibError(error: unknown): error is NodeJS.ErrnoException {
  return /^(Z_|ZSTD_|ERR_.*ZLIB)/.test((error as NodeJS.ErrnoException)?.code ?? "")
}

function brokenEncoding(request: IncomingMessage, cause: NodeJS.ErrnoException): HeddleError {
  const encoding = request.headers["content-encoding"] ?? ""
  return new HeddleError("bad_request", `the request body is not valid ${encoding}: ${cause.message}`, { cause })
}

function tooLarge(maximumBytes: number): HeddleError {
  return new HeddleError("payload_too_large", `the request body is larger than ${maximumBytes} bytes`)
}
