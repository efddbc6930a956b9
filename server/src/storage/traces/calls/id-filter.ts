/**
 * A Bloom filter of ids that grows with them. It may take an id for one that was added, about one in ten
 * thousand, but never the other way round. An id takes 20 bits, whatever its length.
 */
const bitsPerId = 20
/** With 20 bits per id, this number of probes has the fewest false positives. */
const probes = 13
const firstCapacity = 2 ** 16

interface Segment {
  bits: Uint32Array
  /** How many more ids it takes. */
  free: number
}

export class IdFilter {
  /** Each takes twice as many ids as the one before. */
  readonly #segments: Segment[] = []
  #capacity = firstCapacity
  #count = 0

  /** How many ids it has. */
  get count(): number {
    return this.#count
  }

  /** Adds the id. Returns whether it may have been added before. */
  add(id: string): boolean {
    const [first, step] = hashOf(id)
    if (this.#segments.some(({ bits }) => holds(bits, first, step))) return true
    const { bits } = this.#openSegment()
    const size = bits.length * 32
    for (let probe = 0, hash = first; probe < probes; probe++, hash = (hash + step) >>> 0) {
      const bit = hash % size
      bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31))
    }
    return false
  }

  #openSegment(): Segment {
    let last = this.#segments.at(-1)
    if (last === undefined || last.free === 0) {
      last = { bits: new Uint32Array((this.#capacity * bitsPerId) / 32), free: this.#capacity }
      this.#segments.push(last)
      this.#capacity *= 2
    }
    last.free -= 1
    this.#count += 1
    return last
  }
}

function holds(bits: Uint32Array, first: number, step: number): boolean {
  const size = bits.length * 32
  for (let probe = 0, hash = first; probe < probes; probe++, hash = (hash + step) >>> 0) {
    const bit = hash % size
    if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
  }
  return true
}

/** Two numbers of 32 bits: FNV-1a with two primes, then mixed as in MurmurHash3, since short ids differ in few bits. */
function hashOf(id: string): [first: number, step: number] {
  let first = 0x811c9dc5
  let second = 0x9747b28c
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at)
    first = Math.imul(first ^ unit, 0x01000193)
    second = Math.imul(second ^ unit, 0x85ebca6b)
  }
  return [mixed(first), mixed(second) | 1]
}

function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
