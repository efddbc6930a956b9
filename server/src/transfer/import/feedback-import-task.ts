/** Feedback of a part of a file, read and checked as far as that goes without the stores. */
import { memberText } from "../../json/json-members.ts"
import { exportedFeedbackColumns } from "../../storage/traces/transfer/print-feedback.ts"
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { readFeedback } from "../../labelling/feedback/feedback-body.ts"
import type { NewFeedback } from "../../labelling/feedback/feedback-task.ts"
import { batchRows, recordCells } from "./batch-rows.ts"
import { RowFailures } from "./import-report.ts"
import { type ImportTarget, inProject } from "./import-target.ts"
import { RowError } from "./imported-row.ts"
import type { ImportedBatch, RowBatch } from "./row-batch.ts"

export interface NumberedFeedback {
  number: number
  item: NewFeedback
}

export interface FeedbackImport extends ImportedBatch {
  items: NumberedFeedback[]
}

const cells = recordCells(exportedFeedbackColumns)
/** Few, since all that is read of them comes back as values. */
const parquetRowsAtOnce = 500

export const importFeedbackTask = plainTask({
  name: "import/feedback",
  ownThreadBytes: 64 * 1024,
  work: async ({ target, ...batch }: RowBatch & { target: ImportTarget }): Promise<FeedbackImport> => {
    const { rows, end } = await batchRows(batch, cells, parquetRowsAtOnce)
    const failed = new RowFailures()
    const items: NumberedFeedback[] = []
    failed.read(rows, ({ number, text }) => items.push({ number, item: readItem(text, target) }))
    return { items, failed: failed.toPlain(), end }
  },
})

function readItem(text: string, target: ImportTarget): NewFeedback {
  const { body, payload } = readFeedback(Buffer.from(inProject(text, target)))
  if (!body.id) throw new RowError("is missing: without one, importing twice would store it twice", "id")
  const createdAt = stringMember(text, "created_at")
  if (createdAt !== null && microsecondsOf(createdAt) === null) {
    throw new RowError("is not an ISO 8601 time", "created_at", createdAt)
  }
  const userId = target.keepUsers ? stringMember(text, "wb_user_id") : null
  const { payload: _, ...fields } = body
  return { fields, payload, ...(createdAt === null ? {} : { createdAt }), ...(userId === null ? {} : { userId }) }
}

function stringMember(text: string, name: string): string | null {
  const member = memberText(text, name)
  const value: unknown = member === null ? null : JSON.parse(member)
  return typeof value === "string" ? value : null
}
