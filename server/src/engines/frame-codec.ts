/** Frames of the engine protocol: a 4-byte big-endian length, then that many bytes of UTF-8 JSON. */
import { MAX_FRAME_BYTES } from "../wire/engine/frames.ts"

const headerBytes = 4

/** @throws {RangeError} when the value has more than `most` bytes. */
export function encodeFrame(value: unknown, most = MAX_FRAME_BYTES): Buffer {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  if (length > most) throw new RangeError(`a frame of ${length} bytes is over the limit of ${most}`)
  const frame = Buffer.allocUnsafe(headerBytes + length)
  frame.writeUInt32BE(length, 0)
  frame.write(text, headerBytes, "utf8")
  return frame
}

/** Cuts a byte stream into frames; chunks may split one anywhere. */
export class FrameReader {
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Bytes of `#pending` that must be there before the next look at it. */
  #wanted = headerBytes

  /** Gives `take` every frame that `chunk` completes, parsed, and its length. @throws for a length over the limit, or text that is not JSON. */
  read(chunk: Buffer, take: (frame: unknown, bytes: number) => void): void {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    if (this.#pendingBytes < this.#wanted) return
    const buffer = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending, this.#pendingBytes)
    let offset = 0
    this.#wanted = headerBytes
    while (buffer.length - offset >= headerBytes) {
      const length = frameLength(buffer, offset)
      if (buffer.length - offset < headerBytes + length) {
        this.#wanted = headerBytes + length
        break
      }
      const start = offset + headerBytes
      offset = start + length
      take(JSON.parse(buffer.toString("utf8", start, offset)), length)
    }
    this.#pending = offset === buffer.length ? [] : [buffer.subarray(offset)]
    this.#pendingBytes = buffer.length - offset
  }
}

function frameLength(buffer: Buffer, offset: number): number {
  const length = buffer.readUInt32BE(offset)
  if (length > MAX_FRAME_BYTES)
    throw new RangeError(`the engine announced a frame of ${length} bytes, over the limit of ${MAX_FRAME_BYTES}`)
  return length
}
