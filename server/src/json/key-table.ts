/** Names that a reader looks for; they are found by their bytes, without making strings. */
export class KeyTable {
  readonly #names: readonly Buffer[]
  /** By the hash of a name: its index. */
  readonly #byHash = new Map<number, number>()

  /** @throws {Error} when two names have one hash: then the hash must change. */
  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name))
    for (const [index, name] of this.#names.entries()) {
      const hash = hashOf(name, 0, name.length)
      if (this.#byHash.has(hash)) throw new Error(`two keys have the hash ${hash}`)
      this.#byHash.set(hash, index)
    }
  }

  /** The index of the name that stands from `start` to `end`; -1: none. */
  find(bytes: Buffer, start: number, end: number): number {
    const index = this.#byHash.get(hashOf(bytes, start, end)) ?? -1
    const name = this.#names[index]
    if (name === undefined || name.length !== end - start) return -1
    for (let at = 0; at < name.length; at++) if (name[at] !== bytes[start + at]) return -1
    return index
  }
}

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = end - start
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
  return hash
}
