/** Which feedback an export holds: that which `/feedback/query` would answer. */
import type { Readable } from "node:stream"
import { printFeedback } from "../../storage/traces/export/print-feedback.ts"
import type { ExportFeedbackBody } from "../../wire/evaluation/export.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { checkRange } from "../requests/list-range.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

export async function exportFeedback(
  { traces }: EvaluationDependencies,
  project: ProjectAccess,
  body: ExportFeedbackBody,
): Promise<Readable> {
  const page = { ...checkRange(body), sortBy: body.sort_by ?? null }
  const selection = { projectId: project.id, projectName: project.name, where: body.query?.$expr ?? null }
  const style = { format: body.format, spreadsheetSafe: body.spreadsheet_safe === true }
  return printFeedback(traces, selection, page, style)
}
