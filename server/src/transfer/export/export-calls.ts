/** Which calls an export holds: those that `/calls/stream_query` would answer. */
import type { Readable } from "node:stream"
import type { Principal } from "../../http/principal.ts"
import { type ExportedCallColumn, exportedCallColumns, printCalls } from "../../storage/traces/transfer/print-calls.ts"
import type { ExportCallsBody } from "../../wire/transfer/export.ts"
import { chosenColumns } from "../../calls/read/call-columns.ts"
import { selectionOf } from "../../calls/read/call-query.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

const always = new Set<ExportedCallColumn>(["id", "op_name", "trace_id", "parent_id", "started_at"])

export async function exportCalls(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  body: ExportCallsBody,
): Promise<Readable> {
  const page = checkRange(body)
  const columns = exportedColumns(body.columns ?? null)
  const selection = await selectionOf(dependencies, principal, project, body)
  const print = {
    columns,
    asStored: body.sort_by == null,
    page,
    format: body.format,
    spreadsheetSafe: body.spreadsheet_safe === true,
  }
  return printCalls(dependencies.traces, selection, print)
}

function exportedColumns(columns: readonly string[] | null): ExportedCallColumn[] {
  const chosen: ReadonlySet<string> = chosenColumns({
    columns,
    includeCosts: false,
    includeUsernames: false,
    includeStorageSize: false,
  })
  const all = Object.keys(exportedCallColumns) as ExportedCallColumn[]
  return all.filter((name) => always.has(name) || chosen.has(name))
}
