/** Making tables: evaluation-store-calls 6.2. They never change; an update makes another one. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { tableDigest } from "../../json/digests.ts"
import { insertRows, insertTable, tableDigests, type TableRow } from "../../storage/traces/table-rows.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import {
  tableCreateBody,
  type tableCreated,
  type tableFromDigests,
  type tableFromDigestsBody,
  tableUpdateBody,
  type tableUpdated,
} from "../../wire/evaluation/table.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { RefProjects } from "../refs/internal-refs.ts"
import { checkDigest } from "../objects/object-create.ts"
import { projectForWrite } from "../project-access.ts"
import { readBody } from "../requests/request-text.ts"
import { TableRowReader } from "./table-row-reader.ts"

export async function createTable(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: Buffer,
): Promise<z.output<typeof tableCreated>> {
  const reader = new TableRowReader(new RefProjects(database, principal))
  let count = 0
  const { table } = readBody(tableCreateBody, body, {
    "table.rows.*": (cursor) => reader.take(cursor, ["body", "table", "rows", count++]),
  })
  const rows = table.rows as TableRow[]
  const project = await projectForWrite(database, principal, table.project_id)
  await reader.finish(rows)
  const rowDigests = rows.map((row) => row.digest)
  checkDigest(`the table of ${rows.length} rows`, table.expected_digest, tableDigest(rowDigests))
  return { digest: await storeTable(traces, project.id, rows), row_digests: rowDigests }
}

/** `rows`: finished by their reader. Returns the digest of their table. */
export async function storeTable(traces: TraceStore, projectId: string, rows: readonly TableRow[]): Promise<string> {
  const rowDigests = rows.map((row) => row.digest)
  const digest = tableDigest(rowDigests)
  await insertRows(traces, projectId, rows)
  await insertTable(traces, projectId, digest, rowDigests)
  return digest
}

/** Rows need not be there yet: the clients upload them as tables of their own. */
export async function createTableFromDigests(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  { project_id, row_digests: rowDigests, expected_digest }: z.output<typeof tableFromDigestsBody>,
): Promise<z.output<typeof tableFromDigests>> {
  const project = await projectForWrite(database, principal, project_id)
  const digest = tableDigest(rowDigests)
  checkDigest(`the table of ${rowDigests.length} rows`, expected_digest, digest)
  await insertTable(traces, project.id, digest, rowDigests)
  return { digest }
}

type Update = { append: { row: TableRow } } | { pop: { index: number } } | { insert: { index: number; row: TableRow } }

export async function updateTable(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: Buffer,
): Promise<z.output<typeof tableUpdated>> {
  const reader = new TableRowReader(new RefProjects(database, principal))
  const take = (cursor: Parameters<TableRowReader["take"]>[0]) => reader.take(cursor, ["body", "updates"])
  const { project_id, base_digest, ...rest } = readBody(tableUpdateBody, body, {
    "updates.*.append.row": take,
    "updates.*.insert.row": take,
  })
  const updates = rest.updates as Update[]
  const project = await projectForWrite(database, principal, project_id)
  const rowDigests = await tableDigests(traces, project.id, base_digest)
  if (rowDigests === null) throw tableNotFound(base_digest)
  const rows = updates.flatMap((update) => rowOf(update) ?? [])
  await reader.finish(rows)
  const updated = updates.map((update) => applyUpdate(rowDigests, update))
  const digest = tableDigest(rowDigests)
  await insertRows(traces, project.id, rows)
  await insertTable(traces, project.id, digest, rowDigests)
  return { digest, updated_row_digests: updated }
}

export function tableNotFound(digest: string): HeddleError {
  return new HeddleError("not_found", `Table ${digest} not found`)
}

function rowOf(update: Update): TableRow | null {
  if ("append" in update) return update.append.row
  return "insert" in update ? update.insert.row : null
}

/** Changes the list, and returns the digest of the row that came or went. */
function applyUpdate(rowDigests: string[], update: Update): string {
  if ("append" in update) {
    rowDigests.push(update.append.row.digest)
    return update.append.row.digest
  }
  if ("pop" in update) {
    checkIndex(update.pop.index, rowDigests.length - 1)
    return rowDigests.splice(update.pop.index, 1)[0] as string
  }
  checkIndex(update.insert.index, rowDigests.length)
  rowDigests.splice(update.insert.index, 0, update.insert.row.digest)
  return update.insert.row.digest
}

function checkIndex(index: number, last: number): void {
  if (index >= 0 && index <= last) return
  throw new HeddleError("value_error", `Index out of range: ${index} is not from 0 to ${last}`)
}
