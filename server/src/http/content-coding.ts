/** Content codings of request bodies (RFC 9110 8.4): which are understood, and how they are undone. */
import type { Transform } from "node:stream"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import { HeddleError } from "../errors.ts"

interface Coding {
  stream: () => Transform
  whole: (bytes: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>
}

const gzip: Coding = { stream: zlib.createGunzip, whole: promisify(zlib.gunzip) }

const codings: Record<string, Coding> = {
  gzip,
  "x-gzip": gzip,
  deflate: { stream: zlib.createInflate, whole: promisify(zlib.inflate) },
  zstd: { stream: zlib.createZstdDecompress, whole: promisify(zlib.zstdDecompress) },
  br: { stream: zlib.createBrotliDecompress, whole: promisify(zlib.brotliDecompress) },
}

/**
 * The coding of a `Content-Encoding` header; null: the bytes are as they are.
 * @throws {HeddleError} 415 unknown coding.
 */
export function codingOf(header: string | undefined): Coding | null {
  const name = (header ?? "identity").trim().toLowerCase()
  if (name === "identity" || name === "") return null
  const coding = codings[name]
  if (coding !== undefined) return coding
  const known = Object.keys(codings).join(", ")
  throw new HeddleError("unsupported_media_type", `Content-Encoding "${name}" is not supported; use one of: ${known}`)
}

/** What an error of a decoder means to the client; other errors stay as they are. */
export function decodingError(error: unknown, header: string | undefined, maximumBytes: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ERR_BUFFER_TOO_LARGE") return bodyTooLarge(maximumBytes)
  if (!/^(Z_|ZSTD_|ERR_.*(ZLIB|BROTLI|PADDING))/.test(code ?? "")) return error
  return new HeddleError("bad_request", `the request body is not valid ${header}: ${message}`, { cause: error })
}

export function bodyTooLarge(maximumBytes: number): HeddleError {
  return new HeddleError("payload_too_large", `Request too large: the body has more than ${maximumBytes} bytes`)
}
