/** The content codings that a request body may have, each with what encodes it. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"

export const contentCodings = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["zstd", zstdCompressSync],
  ["br", brotliCompressSync],
] as const
