/** Feedback of a file, checked and stored as `/feedback/create` does it, with the time and author that it had. */
import type { Principal } from "../../http/principal.ts"
import { memberText } from "../../json/json-members.ts"
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { readFeedback } from "../feedback/feedback-body.ts"
import { createFeedback, type NewFeedback } from "../feedback/feedback-create.ts"
import { type RowOrError, RowError } from "./imported-row.ts"
import { type ImportTarget, inProject } from "./import-target.ts"
import { Report } from "./import-report.ts"

const batchRows = 500
const batchCharacters = 8 * 1024 * 1024

interface NumberedFeedback {
  number: number
  item: NewFeedback
}

export async function importFeedback(
  dependencies: EvaluationDependencies,
  principal: Principal,
  target: ImportTarget,
  rows: AsyncIterable<RowOrError>,
): Promise<Report> {
  const report = new Report()
  let batch: NumberedFeedback[] = []
  let characters = 0
  for await (const row of rows) {
    try {
      if ("error" in row) throw row.error
      batch.push({ number: row.number, item: readItem(row.text, target) })
      characters += row.text.length
    } catch (error) {
      report.failed(row.number, error)
    }
    if (batch.length >= batchRows || characters >= batchCharacters) {
      await store(dependencies, principal, batch, report)
      batch = []
      characters = 0
    }
  }
  await store(dependencies, principal, batch, report)
  return report
}

/** One that is refused fails alone. */
async function store(
  dependencies: EvaluationDependencies,
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
    const [only] = batch
    if (only === undefined) return
    if (batch.length === 1) return report.failed(only.number, error)
    const half = Math.ceil(batch.length / 2)
    await store(dependencies, principal, batch.slice(0, half), report)
    await store(dependencies, principal, batch.slice(half), report)
  }
}

function readItem(text: string, target: ImportTarget): NewFeedback {
  const item = readFeedback(Buffer.from(inProject(text, target)))
  if (!item.body.id) throw new RowError("is missing: without one, importing twice would store it twice", "id")
  const createdAt = stringMember(text, "created_at")
  if (createdAt !== null && microsecondsOf(createdAt) === null) {
    throw new RowError("is not an ISO 8601 time", "created_at", createdAt)
  }
  const userId = target.keepUsers ? stringMember(text, "wb_user_id") : null
  return { ...item, ...(createdAt === null ? {} : { createdAt }), ...(userId === null ? {} : { userId }) }
}

function stringMember(text: string, name: string): string | null {
  const member = memberText(text, name)
  const value: unknown = member === null ? null : JSON.parse(member)
  return typeof value === "string" ? value : null
}
