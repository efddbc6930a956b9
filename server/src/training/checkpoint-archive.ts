/** A tar file (POSIX ustar) of a few files of known sizes, which is made while it is sent. */
import type { FastifyReply } from "fastify"
import { createReadStream } from "node:fs"
import { Readable } from "node:stream"

export interface ArchivedFile {
  /** Inside the archive, below its folder. */
  name: string
  source: string
  sizeBytes: number
}

export interface Archive {
  /** First path segment of every file. */
  folder: string
  modifiedAt: Date
  files: readonly ArchivedFile[]
}

const blockBytes = 512
/** Two empty blocks. */
const endBytes = 2 * blockBytes

export function archiveBytes({ files }: Archive): number {
  return files.reduce((sum, { sizeBytes }) => sum + blockBytes + sizeBytes + paddingOf(sizeBytes), endBytes)
}

/** The answer to a download of an archive. */
export function sendArchive(reply: FastifyReply, archive: Archive): FastifyReply {
  return reply
    .header("content-type", "application/x-tar")
    .header("content-length", archiveBytes(archive))
    .header("content-disposition", `attachment; filename="${archive.folder}.tar"`)
    .send(Readable.from(archiveOf(archive)))
}

export async function* archiveOf({ folder, modifiedAt, files }: Archive): AsyncGenerator<Buffer> {
  for (const { name, source, sizeBytes } of files) {
    yield header(folder, name, sizeBytes, modifiedAt)
    for await (const chunk of createReadStream(source, { highWaterMark: 256 * 1024 })) yield chunk as Buffer
    yield Buffer.alloc(paddingOf(sizeBytes))
  }
  yield Buffer.alloc(endBytes)
}

function paddingOf(sizeBytes: number): number {
  return (blockBytes - (sizeBytes % blockBytes)) % blockBytes
}

function header(folder: string, name: string, sizeBytes: number, modifiedAt: Date): Buffer {
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0)
  block.write(octal(0o644, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  sizeField(sizeBytes).copy(block, 124)
  block.write(octal(Math.floor(modifiedAt.getTime() / 1000), 12), 136)
  // The checksum counts its own field as blanks.
  block.write(" ".repeat(8), 148)
  block.write("0", 156)
  block.write("ustar\u000000", 257)
  block.write(folder, 345)
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${octal(checksum, 7)} `, 148)
  return block
}

/** Eleven octal digits; from 8 GiB on, the binary form that all of today's tar programs read. */
function sizeField(sizeBytes: number): Buffer {
  if (sizeBytes < 8 ** 11) return Buffer.from(octal(sizeBytes, 12))
  const field = Buffer.alloc(12)
  field.writeUInt8(0x80, 0)
  field.writeBigUInt64BE(BigInt(sizeBytes), 4)
  return field
}

/** Ends with NUL. */
function octal(value: number, bytes: number): string {
  return `${value.toString(8).padStart(bytes - 1, "0")}\u0000`
}
