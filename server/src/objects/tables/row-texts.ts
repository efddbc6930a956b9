/** Rows in the text of a request, and the lines that are stored of them (evaluation-store-calls 6.1). */
import { HeddleError, invalid } from "../../errors.ts"
import { contentDigest } from "../../json/digests.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { tableRowLine } from "../../storage/traces/table-rows.ts"
import { RowBuffer } from "../../storage/traces/calls/insert/row-buffer.ts"
import { checkRowSize } from "../row-size.ts"
import type { PayloadLookup } from "../payload/payload-lookups.ts"
import type { RefNames } from "../refs/ref-names.ts"

export interface StoredRows {
  /** JSON Lines for the table `table_rows`. */
  lines: Buffer
  /** One digest per row, in order. */
  digests: string[]
}

/** Takes note of where the rows of a request stand while it is read; what they hold is looked into afterwards. */
export class RowTexts {
  /** Start and end offset of each row. */
  readonly #places: number[] = []
  readonly #mostRows: number

  constructor(mostRows: number) {
    this.#mostRows = mostRows
  }

  get count(): number {
    return this.#places.length / 2
  }

  /** Consumes a row and returns its index. `loc`: where it is said to be when it is no object. */
  take(cursor: JsonCursor, loc: (string | number)[]): number {
    if (cursor.kind() !== "object") throw invalid(loc, "Input should be a valid dictionary", "dict_type")
    if (this.count >= this.#mostRows) throw tooManyRows(this.#mostRows)
    const start = cursor.at
    this.#places.push(start, start + cursor.value().length)
    return this.count - 1
  }

  /** `text`: of the request that the rows were taken from. @throws {HeddleError} `insert_too_large`, `invalid_external_ref`. */
  *stored(text: string, projectId: string, names: RefNames): Generator<PayloadLookup, StoredRows> {
    this.#checkSizes(text)
    names.expect(text)
    yield* names.resolve()
    const digests = yield* this.#digests(text, names)
    return { lines: this.#lines(text, projectId, digests, names), digests }
  }

  #checkSizes(text: string): void {
    for (let row = 0; row < this.count; row++) checkRowSize(`row ${row} of the table`, this.#rowText(text, row))
  }

  *#digests(text: string, names: RefNames): Generator<PayloadLookup, string[]> {
    const digests: string[] = []
    const unfinished: number[] = []
    for (let row = 0; row < this.count; row++) {
      const digest = this.#digest(text, row, names)
      if (digest === null) unfinished.push(row)
      digests.push(digest ?? "")
    }
    yield* names.resolve()
    for (const row of unfinished) digests[row] = this.#digest(text, row, names) as string
    return digests
  }

  /** null: the row names projects that have to be looked up first. */
  #digest(text: string, row: number, names: RefNames): string | null {
    const canonical = names.print(new JsonCursor(text, this.#places[2 * row]))
    return canonical === null ? null : contentDigest(canonical)
  }

  /** Each row once. */
  #lines(text: string, projectId: string, digests: readonly string[], names: RefNames): Buffer {
    const lines = new RowBuffer(text.length)
    const written = new Set<string>()
    for (const [row, digest] of digests.entries()) {
      if (written.has(digest)) continue
      written.add(digest)
      const stored = withoutNotFinite(names.external(this.#rowText(text, row)))
      checkRowSize(`table row ${digest}`, stored)
      lines.text(tableRowLine(projectId, digest, stored))
    }
    return lines.bytes()
  }

  #rowText(text: string, row: number): string {
    return text.slice(this.#places[2 * row], this.#places[2 * row + 1])
  }
}

function tooManyRows(most: number): HeddleError {
  const message = `the request has more than ${most} rows. Send them in several tables, and join these by their digests`
  return new HeddleError("payload_too_large", message)
}
