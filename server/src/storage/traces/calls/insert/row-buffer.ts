/** Bytes of rows that are put together piece by piece; it grows when they need more than was expected. */
export class RowBuffer {
  #buffer: Buffer
  #used = 0

  constructor(expectedBytes: number) {
    this.#buffer = Buffer.allocUnsafe(expectedBytes)
  }

  get length(): number {
    return this.#used
  }

  text(text: string): void {
    // Three bytes at most for each UTF-16 unit.
    this.#reserve(text.length * 3)
    this.#used += this.#buffer.write(text, this.#used, "utf8")
  }

  /** A copy in which every `byte` comes twice. */
  copyDoubled(bytes: Buffer, byte: number): void {
    let from = 0
    for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, from)) {
      this.#copy(bytes, from, at + 1)
      this.#reserve(1)
      this.#buffer[this.#used++] = byte
      from = at + 1
    }
    this.#copy(bytes, from, bytes.length)
  }

  #copy(bytes: Buffer, from: number, to: number): void {
    this.#reserve(to - from)
    this.#used += bytes.copy(this.#buffer, this.#used, from, to)
  }

  /** The bytes written so far. */
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
