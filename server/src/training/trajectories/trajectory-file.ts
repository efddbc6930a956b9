/** Writes the lines of a data file while hashing them, in few large writes. Runs in the reading thread, so it may block. */
import { createHash } from "node:crypto"
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs"

const flushBytes = 1024 * 1024

export class HashedLineFile {
  readonly #descriptor: number
  readonly #hash = createHash("sha256")
  #pending: Buffer[] = []
  #pendingBytes = 0
  #sizeBytes = 0
  #open = true

  /** @throws when `file` exists. */
  constructor(file: string) {
    this.#descriptor = openSync(file, "wx", 0o600)
  }

  line(text: string): void {
    const bytes = Buffer.from(`${text}\n`, "utf8")
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes >= flushBytes) this.#flush()
  }

  /** Everything is on the disk when this returns. */
  finish(): { sha256: string; sizeBytes: number } {
    this.#flush()
    fsyncSync(this.#descriptor)
    this.close()
    return { sha256: this.#hash.digest("hex"), sizeBytes: this.#sizeBytes }
  }

  close(): void {
    if (this.#open) closeSync(this.#descriptor)
    this.#open = false
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pending)
    this.#hash.update(bytes)
    for (let written = 0; written < bytes.length;) written += writeSync(this.#descriptor, bytes, written)
    this.#sizeBytes += bytes.length
    this.#pending = []
    this.#pendingBytes = 0
  }
}
