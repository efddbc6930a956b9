/** Writes the few protobuf messages that answers of OTLP have (protobuf.dev, "Encoding"). */

/** A field that is a whole number from 0 to 2^53. */
export function numberField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

/** A field that is a text or a message. */
export function bytesField(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
