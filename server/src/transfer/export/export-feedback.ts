/** Which feedback an export holds: that which `/feedback/query` would answer. */
import type { Readable } from "node:stream"
import { printFeedback } from "../../storage/traces/transfer/print-feedback.ts"
import type { ExportFeedbackBody } from "../../wire/transfer/export.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

export async function exportFeedback(
  { traces }: CallDependencies,
  project: ProjectAccess,
  body: ExportFeedbackBody,
): Promise<Readable> {
  const page = { ...checkRange(body), sortBy: body.sort_by ?? null }
  const selection = { projectId: project.id, projectName: project.name, where: body.query?.$expr ?? null }
  const style = { format: body.format, spreadsheetSafe: body.spreadsheet_safe === true }
  return printFeedback(traces, selection, page, style)
}
