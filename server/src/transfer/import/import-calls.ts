/** Calls of a file: evaluation-store-calls 2. */
import { type CallBatch, joinedBatches } from "../../storage/traces/calls/insert/call-batch.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { importCallsTask } from "./calls-import-task.ts"
import { eachBatch, type ImportedBody } from "./import-source.ts"
import { Report } from "./import-report.ts"
import type { ImportTarget } from "./import-target.ts"

/** Bytes of the rows that are stored at once. */
const batchBytes = 8 * 1024 * 1024

export async function importCalls(
  { writer, threads }: Pick<CallDependencies, "writer" | "threads">,
  target: ImportTarget,
  body: ImportedBody,
): Promise<Report> {
  const report = new Report()
  let waiting: CallBatch[] = []
  let bytes = 0
  let count = 0
  const store = async () => {
    await writer.add(joinedBatches(waiting))
    report.stored(count)
    waiting = []
    bytes = 0
    count = 0
  }
  await eachBatch(body, async (batch) => {
    const options = { bytes: batch.bytes.length || Infinity, answer: noLookups }
    const read = await threads.run(importCallsTask, { ...batch, target }, options)
    report.add(read.failed)
    waiting.push(read)
    bytes += read.rows.length
    count += read.count
    if (bytes >= batchBytes) await store()
    return read.end
  })
  if (count > 0) await store()
  return report
}
