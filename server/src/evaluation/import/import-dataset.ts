/** Rows of a file as a table, which is whole or not there, and as a version of a dataset. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { tableDigest } from "../../json/digests.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { insertRows, insertTable, type TableRow } from "../../storage/traces/table-rows.ts"
import type { importDatasetQuery, importDatasetReport } from "../../wire/evaluation/import.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { publishDataset } from "../object-families/datasets.ts"
import { RefProjects } from "../refs/internal-refs.ts"
import { TableRowReader } from "../tables/table-row-reader.ts"
import { type ImportTarget, moveRefs } from "./import-target.ts"
import type { RowOrError } from "./imported-row.ts"
import { Report } from "./import-report.ts"

const batchCharacters = 8 * 1024 * 1024

export async function importDataset(
  dependencies: EvaluationDependencies,
  principal: Principal,
  target: ImportTarget,
  { name, description }: z.output<typeof importDatasetQuery>,
  rows: AsyncIterable<RowOrError>,
): Promise<z.output<typeof importDatasetReport>> {
  const { project } = target
  const report = new Report()
  const rowDigests = await storeRows(dependencies, principal, target, rows, report)
  const nothing = { table_digest: null, object_id: null, digest: null, version_index: null }
  if (report.answer().failed > 0) return { ...report.answer(), ...nothing }
  const table = tableDigest(rowDigests)
  await insertTable(dependencies.traces, project.id, table, rowDigests)
  report.stored(rowDigests.length)
  if (name === undefined) return { ...report.answer(), ...nothing, table_digest: table }
  const made = await publishDataset(dependencies, principal, project.name, { name, description, table })
  return {
    ...report.answer(),
    table_digest: table,
    object_id: made.objectId,
    digest: made.digest,
    version_index: made.versionIndex,
  }
}

/** A stored row that no table names does no harm. Returns the digests of all rows. */
async function storeRows(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  { project, movedFrom }: ImportTarget,
  rows: AsyncIterable<RowOrError>,
  report: Report,
): Promise<string[]> {
  const digests: string[] = []
  let batch: TableRow[] = []
  let characters = 0
  const store = async () => {
    await insertRows(traces, project.id, batch)
    for (const { digest } of batch) digests.push(digest)
    batch = []
    characters = 0
  }
  const projects = new RefProjects(database, principal)
  for await (const row of rows) {
    try {
      if ("error" in row) throw row.error
      const read = await readRow(new TableRowReader(projects), moveRefs(row.text, project, movedFrom))
      batch.push(read)
      characters += read.text.length
    } catch (error) {
      report.failed(row.number, error)
    }
    if (characters >= batchCharacters) await store()
  }
  if (batch.length > 0) await store()
  return digests
}

async function readRow(reader: TableRowReader, text: string): Promise<TableRow> {
  const cursor = new JsonCursor(text)
  const row = reader.take(cursor, ["row"])
  cursor.end()
  await reader.finish([row])
  return row
}
