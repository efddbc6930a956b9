/** Reads the files that the engine leaves of a job (`wire/engine/training-record.ts`), a line at a time. */
import { createHash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { parseExact } from "../../json/exact-json.ts"

const hashLength = 64
const lineFeed = 10
const readBytes = 1024 * 1024

/** Text of the whole lines up to the first torn one that `isWanted` by its beginning; none where there is no file. */
export async function* wholeLines(file: string, isWanted?: (beginning: string) => boolean): AsyncGenerator<string> {
  const handle = await openIfThere(file)
  if (handle === null) return
  try {
    let rest: Buffer[] = []
    const stream = handle.createReadStream({ highWaterMark: readBytes, autoClose: false }) as AsyncIterable<Buffer>
    for await (const chunk of stream) {
      let begin = 0
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, begin)) {
        const last = chunk.subarray(begin, end)
        const line = rest.length === 0 ? last : Buffer.concat([...rest, last])
        rest = []
        begin = end + 1
        if (isWanted?.(line.toString("latin1", hashLength + 1, hashLength + 81)) === false) continue
        const text = textOf(line)
        if (text === null) return
        yield text
      }
      if (begin < chunk.length) rest.push(chunk.subarray(begin))
    }
  } finally {
    await handle.close()
  }
}

/** The line at `offset`; its numbers keep their spelling. null: it is not there or not whole. */
export async function exactLineAt(file: string, offset: number, length: number): Promise<unknown> {
  const handle = await openIfThere(file)
  if (handle === null) return null
  try {
    const line = Buffer.alloc(length)
    const { bytesRead } = await handle.read(line, 0, length, offset)
    const text = bytesRead === length ? textOf(line.subarray(0, length - 1)) : null
    return text === null ? null : parseExact(text)
  } finally {
    await handle.close()
  }
}

function textOf(line: Buffer): string | null {
  const text = line.subarray(hashLength + 1)
  const hash = createHash("sha256").update(text).digest("hex")
  return hash === line.toString("latin1", 0, hashLength) ? text.toString("utf8") : null
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return null
    throw error
  }
}

/** Little-endian float32; null for NaN. */
export function floatsOf(text: string): (number | null)[] {
  const bytes = Buffer.from(text, "base64")
  return Array.from({ length: bytes.length / 4 }, (_, place) => {
    const value = bytes.readFloatLE(4 * place)
    return Number.isFinite(value) ? value : null
  })
}

export function integersOf(text: string): number[] {
  const bytes = Buffer.from(text, "base64")
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readInt32LE(4 * place))
}

export function marksOf(text: string): boolean[] {
  return Array.from(Buffer.from(text, "base64"), (byte) => byte === 1)
}
