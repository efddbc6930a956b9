/** Memory of bytes that leave their owner: to another thread without being copied, or back to the system. */

/** Smaller ones are copied, which is quicker. */
const smallestMoved = 64 * 1024
/** Of smaller ones V8 has the memory back soon enough. */
const smallestFreed = 16 * 1024

/**
 * Gives back the memory of bytes that nobody reads any more; they are empty then. V8 counts the memory of all bytes until it
 * collects them, and looks through the whole heap after each 64 MiB. Bytes that may share their memory are left to it.
 */
export function freeBytes(...unread: readonly Uint8Array[]): void {
  for (const bytes of unread) if (fillsItsMemory(bytes, smallestFreed)) (bytes.buffer as ArrayBuffer).transfer(0)
}

/** Nothing else lies in memory of which so much is used: Node shares memory among bytes that are less than half of it. */
function fillsItsMemory(bytes: Uint8Array, smallest: number): boolean {
  return bytes.byteLength >= smallest && 2 * bytes.byteLength >= bytes.buffer.byteLength
}

/**
 * The memory of those fields of `value` that are bytes, or lists of bytes, to be moved. Bytes that are a small part of a
 * larger memory are copied, as what else lies in it would go with them.
 */
export function movableMemory(value: object): ArrayBuffer[] {
  const memory = Object.values(value)
    .flatMap((field: unknown) => (isBytesList(field) ? field : [field]))
    .flatMap((bytes) =>
      bytes instanceof Uint8Array && fillsItsMemory(bytes, smallestMoved) ? [bytes.buffer as ArrayBuffer] : [],
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
