/** The memory that bytes lie in, alone or with others. */

/** Of fewer bytes V8 has the memory back soon enough. */
const smallestFreed = 16 * 1024

/**
 * Gives back the memory of bytes that nobody reads any more; they are empty then. V8 counts the memory of all bytes until it
 * collects them, and looks through the whole heap after each 64 MiB. Bytes that may share their memory are left to it.
 */
export function freeBytes(...unread: readonly Uint8Array[]): void {
  for (const bytes of unread) {
    if (bytes.byteLength >= smallestFreed && fillsItsMemory(bytes)) (bytes.buffer as ArrayBuffer).transfer(0)
  }
}

/** Nothing else lies in it: Node shares memory among bytes that are less than half of it. */
export function fillsItsMemory(bytes: Uint8Array): boolean {
  return 2 * bytes.byteLength >= bytes.buffer.byteLength
}
