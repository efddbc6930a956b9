/** The digests of an imported table's rows, in order: all that an import holds of rows that it has stored. */
import { createHash } from "node:crypto"
import { chunkRows, type TablePlace } from "../../storage/traces/table-rows.ts"

/** Characters of a row's digest, each a byte. */
export const digestLength = 43

/** Rows whose digests are stored in one insert: 2.7 MiB of digests. */
const stretchRows = 64 * chunkRows
const stretchBytes = stretchRows * digestLength

export class RowDigests {
  /** Of all digests with nothing between, which is the table's own: evaluation-store-calls 6.1. */
  readonly #hash = createHash("sha256")
  /** Each has room for `stretchBytes`, and all but the last are full. */
  readonly #stretches: Buffer[] = []
  #bytes = 0

  get count(): number {
    return this.#bytes / digestLength
  }

  /** `digests`: concatenated. */
  add(digests: Buffer): void {
    this.#hash.update(digests)
    let left = digests
    while (left.length > 0) {
      const used = this.#bytes % stretchBytes
      if (used === 0) this.#stretches.push(Buffer.allocUnsafeSlow(stretchBytes))
      const copied = left.copy(this.#stretches.at(-1) as Buffer, used)
      this.#bytes += copied
      left = left.subarray(copied)
    }
  }

  /** Nothing may be added afterwards. */
  tableDigest(): string {
    return this.#hash.digest("hex")
  }

  /** From the end of the table to its beginning; each is let go of. A table without rows has an empty one. */
  *takeStretches(): Generator<TablePlace & { digests: Buffer }> {
    const rowCount = this.count
    if (rowCount === 0) return yield { digests: Buffer.alloc(0), firstRow: 0, rowCount }
    let end = this.#bytes
    for (let stretch = this.#stretches.pop(); stretch !== undefined; stretch = this.#stretches.pop()) {
      const start = this.#stretches.length * stretchBytes
      yield { digests: stretch.subarray(0, end - start), firstRow: start / digestLength, rowCount }
      end = start
    }
  }
}
