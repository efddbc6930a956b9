/** Rows of a file as a table, which is whole or not there, and as a version of a dataset. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { insertTable, insertTableRows } from "../../storage/traces/table-rows.ts"
import type { importDatasetQuery, importDatasetReport } from "../../wire/evaluation/import.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { publishDataset } from "../object-families/datasets.ts"
import { asksNothing } from "../../threads/thread-task.ts"
import { runPayloadTask } from "../payload/run-payload-task.ts"
import { importDatasetTask, importedTableTask, tooManyRows } from "./dataset-import-task.ts"
import { Report } from "./import-report.ts"
import { eachBatch, type ImportedBody } from "./import-source.ts"
import type { ImportTarget } from "./import-target.ts"

/** Of the rows that are stored at once. */
const batchBytes = 8 * 1024 * 1024
export async function importDataset(
  dependencies: EvaluationDependencies,
  principal: Principal,
  target: ImportTarget,
  { name, description }: z.output<typeof importDatasetQuery>,
  body: ImportedBody,
): Promise<z.output<typeof importDatasetReport>> {
  const { project } = target
  const { traces, threads } = dependencies
  const report = new Report()
  const { digests, count } = await storeRows(dependencies, principal, target, body, report)
  const nothing = { table_digest: null, object_id: null, digest: null, version_index: null }
  if (report.answer().failed > 0) return { ...report.answer(), ...nothing }
  const input = { projectId: project.id, digests }
  const bytes = digests.reduce((sum, part) => sum + part.length, 0)
  const options = { bytes, answer: asksNothing }
  const { digest: table, lines } = await threads.run(importedTableTask, input, options)
  await insertTable(traces, project.id, lines)
  report.stored(count)
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

/** A stored row that no table names does no harm. Returns the digests of all rows, in parts, and how many they are. */
async function storeRows(
  dependencies: EvaluationDependencies,
  principal: Principal,
  target: ImportTarget,
  body: ImportedBody,
  report: Report,
): Promise<{ digests: Buffer[]; count: number }> {
  const { request_projects: mostProjects, import_table_rows: mostRows } = dependencies.limits
  const digests: Buffer[] = []
  let count = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const store = async () => {
    await insertTableRows(dependencies.traces, target.project.id, Buffer.concat(waiting))
    waiting = []
    bytes = 0
  }
  await eachBatch(body, async (batch) => {
    const options = { bytes: batch.bytes.length || Infinity }
    const input = { ...batch, target, mostProjects }
    const read = await runPayloadTask(dependencies, principal, importDatasetTask, input, options)
    report.add(read.failed)
    digests.push(read.digests)
    count += read.count
    if (count > mostRows) throw tooManyRows(mostRows)
    waiting.push(read.lines)
    bytes += read.lines.length
    if (bytes >= batchBytes) await store()
    return read.end
  })
  await store()
  return { digests, count }
}
