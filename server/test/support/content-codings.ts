/** Content codings that a request body may have, each with its encoder. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"

export const contentCodings = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["zstd", zstdCompressSync],
  ["br", brotliCompressSync],
] as const
