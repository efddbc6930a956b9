/** Bytes that go from one thread to another without being copied. */
import { fillsItsMemory } from "../work/byte-memory.ts"

/** Smaller ones are copied, which is quicker. */
const smallest = 64 * 1024

/**
 * The memory of those fields of `value` that are bytes, or lists of bytes, to be moved. Bytes that are a small part of a
 * larger memory are copied, as what else lies in it would go with them.
 */
export function movableMemory(value: object): ArrayBuffer[] {
  const memory = Object.values(value)
    .flatMap((field: unknown) => (isBytesList(field) ? field : [field]))
    .flatMap((bytes) =>
      bytes instanceof Uint8Array && bytes.byteLength >= smallest && fillsItsMemory(bytes)
        ? [bytes.buffer as ArrayBuffer]
        : [],
    )
  return [...new Set(memory)]
}

/** `value` with Buffers in place of the plain bytes that a clone makes of them. */
export function withBuffers<T extends object>(value: T): T {
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    isBytesList(field) ? field.map(asBuffer) : asBuffer(field),
  ])
  return Object.fromEntries(entries) as T
}

function isBytesList(field: unknown): field is unknown[] {
  return Array.isArray(field) && field[0] instanceof Uint8Array
}

function asBuffer(field: unknown): unknown {
  return field instanceof Uint8Array ? Buffer.from(field.buffer, field.byteOffset, field.byteLength) : field
}
