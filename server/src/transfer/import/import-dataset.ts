/** Rows of a file as a table, which is whole or not there, and as a version of a dataset. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { insertTable, insertTableRows } from "../../storage/traces/table-rows.ts"
import type { importDatasetQuery, importDatasetReport } from "../../wire/transfer/import.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { publishDataset } from "../../objects/families/datasets.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { runPayloadTask } from "../../objects/payload/run-payload-task.ts"
import { importDatasetTask, tableStretchTask, tooManyRows } from "./dataset-import-task.ts"
import { Report } from "./import-report.ts"
import { eachBatch, type ImportedBody } from "./import-source.ts"
import type { ImportTarget } from "./import-target.ts"
import { RowDigests } from "./row-digests.ts"

/** Size of the batches in which rows are stored. */
const batchBytes = 8 * 1024 * 1024

export async function importDataset(
  dependencies: CallDependencies,
  principal: Principal,
  target: ImportTarget,
  { name, description }: z.output<typeof importDatasetQuery>,
  body: ImportedBody,
): Promise<z.output<typeof importDatasetReport>> {
  const { project } = target
  const report = new Report()
  const digests = await storeRows(dependencies, principal, target, body, report)
  const { count } = digests
  const nothing = { table_digest: null, object_id: null, digest: null, version_index: null }
  if (report.answer().failed > 0) return { ...report.answer(), ...nothing }
  const table = await storeStretches(dependencies, project.id, digests)
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

/**
 * Returns the digests of all rows, which count as a part of the body. Once a row has failed no more are stored. A stored
 * row that no table names does no harm, and the same file again stores it in its place.
 */
async function storeRows(
  dependencies: CallDependencies,
  principal: Principal,
  target: ImportTarget,
  body: ImportedBody,
  report: Report,
): Promise<RowDigests> {
  const { request_projects: mostProjects, import_table_rows: mostRows } = dependencies.limits
  const digests = new RowDigests()
  let count = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const store = async () => {
    const lines = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    await insertTableRows(dependencies.traces, target.project.id, lines)
  }
  await eachBatch(body, async (batch) => {
    const options = { bytes: batch.bytes.length || Infinity }
    const input = { ...batch, target, mostProjects }
    const read = await runPayloadTask(dependencies, principal, importDatasetTask, input, options)
    report.add(read.failed)
    count += read.count
    if (count > mostRows) throw tooManyRows(mostRows)
    if (report.answer().failed > 0) return read.end
    await body.held.take(read.digests.length)
    digests.add(read.digests)
    waiting.push(read.lines)
    bytes += read.lines.length
    if (bytes >= batchBytes) await store()
    return read.end
  })
  if (report.answer().failed === 0) await store()
  return digests
}

/** Returns the digest of the table, which is readable once its first stretch is stored: hence from the last to the first. */
async function storeStretches(
  { traces, threads }: Pick<CallDependencies, "traces" | "threads">,
  projectId: string,
  digests: RowDigests,
): Promise<string> {
  const digest = digests.tableDigest()
  for (const stretch of digests.takeStretches()) {
    const options = { bytes: stretch.digests.length, answer: noLookups }
    const { lines } = await threads.run(tableStretchTask, { projectId, digest, ...stretch }, options)
    await insertTable(traces, projectId, lines)
  }
  return digest
}
