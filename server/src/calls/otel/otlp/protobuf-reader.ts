/**
 * Reads the wire format of Protocol Buffers (protobuf.dev, "Encoding") from a buffer without copying
 * it. Every length is checked against the message it stands in, so that no input reads past its end,
 * and the number of messages is bounded: two bytes may stand for an object of a hundred.
 */

/** The bytes are not a message. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError"
}

/** More messages than one request may hold. */
export class TooManyMessagesError extends Error {
  override readonly name = "TooManyMessagesError"
}

/** Limit on the messages of one request; 32 MiB of spans of 2 KB have about a quarter of it. */
export const maximumMessages = 2_000_000

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

export class ProtobufReader {
  readonly #bytes: Buffer
  #at = 0
  /** End offset of the current message. */
  #end: number
  #messages = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#end = bytes.length
  }

  /** Field number and wire type of the next field, `number * 8 + type`; 0 at the end of the message. */
  tag(): number {
    if (this.#at >= this.#end) return 0
    const tag = this.uint32()
    if (tag >>> 3 === 0) throw this.#broken("a field has the number 0")
    return tag
  }

  /** Consumes a message: `read` must go on until {@link tag} gives 0. */
  message<T>(read: (reader: this) => T): T {
    const end = this.#endOfBytes()
    const outer = this.#end
    if (++this.#messages > maximumMessages) {
      throw new TooManyMessagesError(`the request has more than ${maximumMessages} spans, attributes and events`)
    }
    this.#end = end
    const result = read(this)
    this.#end = outer
    return result
  }

  /** Bytes that are not UTF-8 become U+FFFD. */
  text(): string {
    const end = this.#endOfBytes()
    const text = this.#bytes.toString("utf8", this.#at, end)
    this.#at = end
    return text
  }

  hexadecimal(): string {
    const end = this.#endOfBytes()
    const text = this.#bytes.toString("hex", this.#at, end)
    this.#at = end
    return text
  }

  /** Lies in the buffer that is read. */
  bytes(): Buffer {
    const end = this.#endOfBytes()
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }

  boolean(): boolean {
    return this.#varint() !== 0n
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.#varint())
  }

  fixed64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#take(8))
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8))
  }

  fixed32(): number {
    return this.#bytes.readUInt32LE(this.#take(4))
  }

  /** Also an enumeration; higher bits are dropped, as every reader does. */
  uint32(): number {
    const bytes = this.#bytes
    const first = bytes[this.#at]
    if (first !== undefined && first < 0x80 && this.#at < this.#end) {
      this.#at++
      return first
    }
    return Number(BigInt.asUintN(32, this.#varint()))
  }

  /** Consumes the value of a field that is not known. */
  skip(tag: number): void {
    const type = tag & 7
    if (type === wireTypes.varint) this.#varint()
    else if (type === wireTypes.fixed64) this.#take(8)
    else if (type === wireTypes.bytes) this.#at = this.#endOfBytes()
    else if (type === wireTypes.fixed32) this.#take(4)
    else throw this.#broken(`the field ${tag >>> 3} has the wire type ${type}, which proto3 does not use`)
  }

  /** Past a length, which is consumed. */
  #endOfBytes(): number {
    const length = this.uint32()
    if (length > this.#end - this.#at) {
      throw this.#broken(`a field has ${length} bytes, and its message only ${this.#end - this.#at} more`)
    }
    return this.#at + length
  }

  #take(bytes: number): number {
    const at = this.#at
    if (bytes > this.#end - at) throw this.#broken("a number is cut off")
    this.#at = at + bytes
    return at
  }

  #varint(): bigint {
    let low = 0
    let scale = 1
    // Seven groups of seven bits are exact in a double.
    for (let group = 0; group < 7; group++) {
      const byte = this.#byte()
      low += (byte & 0x7f) * scale
      if (byte < 0x80) return BigInt(low)
      scale *= 128
    }
    let value = BigInt(low)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw this.#broken("a number has more than ten bytes")
  }

  #byte(): number {
    if (this.#at >= this.#end) throw this.#broken("a number is cut off")
    return this.#bytes[this.#at++] as number
  }

  #broken(what: string): ProtobufError {
    return new ProtobufError(`${what} (at byte ${this.#at})`)
  }
}
