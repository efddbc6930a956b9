/** The part of a file that a request's `Range` asks for. */

export interface ByteRange {
  start: number
  /** The last byte's place: it is part of the range. */
  end: number
}

/** null: all of it. Several ranges at once, and one that lies past the end, count as none, which RFC 9110 allows. */
export function byteRange(header: string | undefined, size: number): ByteRange | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? []
  if (first === "" && last === "") return null
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === "" || last === "" ? size - 1 : Math.min(size - 1, Number(last))
  return start <= end ? { start, end } : null
}
