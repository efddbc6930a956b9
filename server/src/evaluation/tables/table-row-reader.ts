/** Rows out of a request body: their text as it came, and their digests (evaluation-store-calls 6.1). */
import { invalid } from "../../errors.ts"
import { contentDigest } from "../../json/digests.ts"
import type { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import type { TableRow } from "../../storage/traces/table-rows.ts"
import type { RefProjects } from "../refs/internal-refs.ts"
import { checkRowSize } from "../objects/object-create.ts"

/** Takes rows in one pass over the text; those that name projects get their digest when these are known. */
export class TableRowReader {
  readonly #projects: RefProjects
  readonly #unfinished: TableRow[] = []

  constructor(projects: RefProjects) {
    this.#projects = projects
  }

  /** `loc`: where the row is said to be when it is no object. */
  take(cursor: JsonCursor, loc: (string | number)[]): TableRow {
    if (cursor.kind() !== "object") throw invalid(loc, "Input should be a valid dictionary", "dict_type")
    const start = cursor.at
    const canonical = this.#projects.print(cursor)
    const row = {
      digest: canonical === null ? "" : contentDigest(canonical),
      text: cursor.text.slice(start, cursor.at),
    }
    if (canonical === null) this.#unfinished.push(row)
    return row
  }

  async finish(rows: readonly TableRow[]): Promise<void> {
    if (this.#unfinished.length > 0) await this.#projects.resolve()
    for (const row of this.#unfinished) {
      row.digest = contentDigest(await this.#projects.canonical(row.text))
      row.text = this.#projects.external(row.text)
    }
    for (const row of rows) {
      row.text = withoutNotFinite(row.text)
      checkRowSize(`table row ${row.digest}`, row.text)
    }
  }
}
