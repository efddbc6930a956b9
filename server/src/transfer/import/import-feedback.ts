/** Feedback of a file, checked and stored as `/feedback/create` does it, with the time and author that it had. */
import type { Principal } from "../../http/principal.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { createFeedback } from "../../labelling/feedback/feedback-create.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { importFeedbackTask, type NumberedFeedback } from "./feedback-import-task.ts"
import { eachBatch, type ImportedBody } from "./import-source.ts"
import type { ImportTarget } from "./import-target.ts"
import { isOfNoRow, Report } from "./import-report.ts"

export async function importFeedback(
  dependencies: CallDependencies,
  principal: Principal,
  target: ImportTarget,
  body: ImportedBody,
): Promise<Report> {
  const report = new Report()
  await eachBatch(body, async (batch) => {
    const options = { bytes: batch.bytes.length || Infinity, answer: noLookups }
    const { items, failed, end } = await dependencies.threads.run(importFeedbackTask, { ...batch, target }, options)
    report.add(failed)
    await store(dependencies, principal, items, report)
    return end
  })
  return report
}

/** One that is refused fails alone. @throws what is no fault of a row. */
async function store(
  dependencies: CallDependencies,
  principal: Principal,
  batch: readonly NumberedFeedback[],
  report: Report,
): Promise<void> {
  try {
    await createFeedback(
      dependencies,
      principal,
      batch.map(({ item }) => item),
    )
    report.stored(batch.length)
  } catch (error) {
    if (isOfNoRow(error)) throw error
    const [only] = batch
    if (only === undefined) return
    if (batch.length === 1) return report.failed(only.number, error)
    const half = Math.ceil(batch.length / 2)
    await store(dependencies, principal, batch.slice(0, half), report)
    await store(dependencies, principal, batch.slice(half), report)
  }
}
