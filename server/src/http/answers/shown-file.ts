/**
 * Answers what a user stored to the pictures, players and downloads of a page, which can only name an address. It is never
 * a document of this origin: its type is one of a closed list, and to go there saves a file.
 */
import type { FastifyReply, FastifyRequest } from "fastify"
import type { Readable } from "node:stream"
import type { ShownType } from "../../wire/shown-type.ts"
import { type ByteRange, byteRange } from "../byte-range.ts"

interface ShownFile {
  sizeBytes: number
  /** undefined: any bytes. */
  type: ShownType | undefined
  /** Under which it is saved; undefined: the last part of its address. */
  name?: string | undefined
  read: (part: Partial<ByteRange>) => Readable
}

export function sendShownFile(request: FastifyRequest, reply: FastifyReply, file: ShownFile): FastifyReply {
  const { sizeBytes, type, name, read } = file
  const range = byteRange(request.headers.range, sizeBytes)
  if (range !== null) reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`)
  return reply
    .header("content-type", type ?? "application/octet-stream")
    .header("content-length", range === null ? sizeBytes : range.end - range.start + 1)
    .header("accept-ranges", "bytes")
    .header("content-disposition", dispositionOf(name))
    .header("content-security-policy", "default-src 'none'; sandbox")
    .header("cross-origin-resource-policy", "same-origin")
    .send(read(range ?? {}))
}

function dispositionOf(name: string | undefined): string {
  return name === undefined ? "attachment" : `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`
}
