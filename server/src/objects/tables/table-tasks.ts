/** From the body of a request to the lines that a table is stored as, in tasks that may run on another thread. */
import { HeddleError } from "../../errors.ts"
import { tableDigest } from "../../json/digests.ts"
import { type JsonCursor, stringOf } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { tableLines } from "../../storage/traces/table-rows.ts"
import { threadTask } from "../../threads/thread-task.ts"
import { tableCreateBody, tableFromDigestsBody, tableUpdateBody } from "../../wire/objects/table.ts"
import { checkDigest } from "../expected-digest.ts"
import { lookUp, ensureProjectId, type PayloadLookup } from "../payload/payload-lookups.ts"
import { RefNames } from "../refs/ref-names.ts"
import { bodyText, readText } from "../requests/request-text.ts"
import { RowTexts } from "./row-texts.ts"

/** Rows are hashed one by one: of the smallest ones a megabyte takes a third of a second. */
export const rowsOwnThreadBytes = 64 * 1024

export interface TableInput {
  bytes: Buffer
  mostRows: number
  mostProjects: number
}

/** A table as it is stored. */
export interface TableResult {
  projectId: string
  rowLines: Buffer
  /** JSON lines of the table itself. */
  lines: Buffer
  /** The JSON of the answer. */
  answer: Buffer
}

/** @throws {HeddleError} 400, 403, 409, 413, 422. */
export const createTableTask = threadTask<TableInput, TableResult, PayloadLookup, unknown>({
  name: "table/create",
  ownThreadBytes: rowsOwnThreadBytes,
  *run({ bytes, mostRows, mostProjects }) {
    const text = bodyText(bytes)
    const rows = new RowTexts(mostRows)
    const { table } = readText(tableCreateBody, text, {
      "table.rows.*": (cursor) => rows.take(cursor, ["body", "table", "rows", rows.count]),
    })
    const projectId = yield* ensureProjectId(table.project_id)
    const { lines, digests } = yield* rows.stored(text, projectId, new RefNames(mostProjects))
    const digest = tableDigest(digests)
    checkDigest(`the table of ${digests.length} rows`, table.expected_digest, digest)
    return stored(projectId, lines, digest, digests, { digest, row_digests: digests })
  },
})

/** Rows need not be there yet: the clients upload them as tables of their own. */
export const tableFromDigestsTask = threadTask<{ bytes: Buffer }, TableResult, PayloadLookup, unknown>({
  name: "table/create_from_digests",
  ownThreadBytes: 256 * 1024,
  *run({ bytes }) {
    const { project_id, row_digests, expected_digest } = readText(tableFromDigestsBody, bodyText(bytes), {
      "row_digests.*": takeText,
    })
    const projectId = yield* ensureProjectId(project_id)
    const digest = tableDigest(row_digests)
    checkDigest(`the table of ${row_digests.length} rows`, expected_digest, digest)
    return stored(projectId, Buffer.alloc(0), digest, row_digests, { digest })
  },
})

/** Anything else than a text is refused by the schema. */
function takeText(cursor: JsonCursor): unknown {
  return cursor.kind() === "string" ? stringOf(cursor.stringToken()) : JSON.parse(withoutNotFinite(cursor.value()))
}

/** A row is its index among the rows of the request. */
type Update = { append: { row: number } } | { pop: { index: number } } | { insert: { index: number; row: number } }

export const updateTableTask = threadTask<TableInput, TableResult, PayloadLookup, unknown>({
  name: "table/update",
  ownThreadBytes: rowsOwnThreadBytes,
  *run({ bytes, mostRows, mostProjects }) {
    const text = bodyText(bytes)
    const rows = new RowTexts(mostRows)
    const take = (cursor: JsonCursor) => rows.take(cursor, ["body", "updates"])
    const { project_id, base_digest, updates } = readText(tableUpdateBody, text, {
      "updates.*.append.row": take,
      "updates.*.insert.row": take,
    })
    const projectId = yield* ensureProjectId(project_id)
    const tableDigests = yield* lookUp("tableDigests", { projectId, digest: base_digest })
    if (tableDigests === null) throw tableNotFound(base_digest)
    const { lines, digests } = yield* rows.stored(text, projectId, new RefNames(mostProjects))
    const members = [...tableDigests]
    const updated_row_digests = (updates as Update[]).map((update) => applyUpdate(members, update, digests))
    const digest = tableDigest(members)
    return stored(projectId, lines, digest, members, { digest, updated_row_digests })
  },
})

function stored(
  projectId: string,
  rowLines: Buffer,
  digest: string,
  rowDigests: readonly string[],
  answer: object,
): TableResult {
  const lines = tableLines(projectId, digest, rowDigests)
  return { projectId, rowLines, lines, answer: Buffer.from(JSON.stringify(answer)) }
}

export function tableNotFound(digest: string): HeddleError {
  return new HeddleError("not_found", `Table ${digest} not found`)
}

/** Changes the list, and returns the digest of the row that came or went. `digests`: of the rows of the request. */
function applyUpdate(members: string[], update: Update, digests: readonly string[]): string {
  if ("append" in update) {
    const digest = digests[update.append.row] as string
    members.push(digest)
    return digest
  }
  if ("pop" in update) {
    checkIndex(update.pop.index, members.length - 1)
    return members.splice(update.pop.index, 1)[0] as string
  }
  checkIndex(update.insert.index, members.length)
  const digest = digests[update.insert.row] as string
  members.splice(update.insert.index, 0, digest)
  return digest
}

function checkIndex(index: number, last: number): void {
  if (index >= 0 && index <= last) return
  throw new HeddleError("value_error", `Index out of range: ${index} is not from 0 to ${last}`)
}
