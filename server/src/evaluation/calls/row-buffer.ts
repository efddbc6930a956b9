/** Bytes of rows that are put together piece by piece; it grows when they need more than was expected. */
export class RowBuffer {
  #buffer: Buffer
  #used = 0

  constructor(expectedBytes: number) {
    this.#buffer = Buffer.allocUnsafe(expectedBytes)
  }

  text(text: string): void {
    // Three bytes at most for each UTF-16 unit.
    this.#reserve(text.length * 3)
    this.#used += this.#buffer.write(text, this.#used, "utf8")
  }

  copy(bytes: Buffer): void {
    this.#reserve(bytes.length)
    this.#used += bytes.copy(this.#buffer, this.#used)
  }

  /** What was written. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used)
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#used + bytes))
    this.#buffer.copy(larger, 0, 0, this.#used)
    this.#buffer = larger
  }
}
