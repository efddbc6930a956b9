/** Content codings of request bodies (RFC 9110 8.4): which are understood, and how they are undone. */
import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import { HeddleError } from "../../errors.ts"

/** Makes what undoes it. */
type Coding = () => Transform

/** Each chunk is a journey to another thread and back: with 16 KiB, zlib's own, they take a third of the time. */
const options = { chunkSize: 128 * 1024 }

/** RFC 9659: of what comes as a content coding, no frame needs a window of more than 8 MiB. */
const zstdOptions = { ...options, params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }

const gzip: Coding = () => zlib.createGunzip(options)

const codings = new Map<string, Coding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", () => zlib.createInflate(options)],
  ["zstd", () => zlib.createZstdDecompress(zstdOptions)],
  ["br", () => zlib.createBrotliDecompress(options)],
])

/**
 * The coding of a `Content-Encoding` header; null: the bytes are as they are.
 * @throws {HeddleError} 415 unknown coding.
 */
export function codingOf(header: string | undefined): Coding | null {
  const name = (header ?? "identity").trim().toLowerCase()
  if (name === "identity" || name === "") return null
  const coding = codings.get(name)
  if (coding !== undefined) return coding
  const known = [...codings.keys()].join(", ")
  throw new HeddleError("unsupported_media_type", `Content-Encoding "${name}" is not supported; use one of: ${known}`)
}

/** Translates a decoder's error for the client; other errors are returned unchanged. */
export function decodingError(error: unknown, header: string | undefined): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (!/^(Z_|ZSTD_|ERR_.*(ZLIB|BROTLI|PADDING))/.test(code ?? "")) return error
  return new HeddleError("bad_request", `the request body is not valid ${header}: ${message}`, { cause: error })
}

export function bodyTooLarge(maximumBytes: number): HeddleError {
  return new HeddleError("payload_too_large", `Request too large: the body has more than ${maximumBytes} bytes`)
}
