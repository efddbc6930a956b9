/** Reads calls for the routes: evaluation-store-calls 3.3, 3.4, 3.10. */
import { HeddleError } from "../../errors.ts"
import { retentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import { countCalls, findCalls, traceBytes } from "../../storage/traces/calls/calls-read.ts"
import { type CallsSelection, selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import { continuedPage, ReadRows } from "../../storage/traces/calls/continued-pages.ts"
import {
  type CallColumn,
  type CallRow,
  piecesOf,
  readAllCallRows,
  readCallRows,
  readFirstRows,
} from "../../storage/traces/calls/call-row-reads.ts"
import { fieldsOf } from "../../storage/traces/query/expression-fields.ts"
import { inPieces } from "../../storage/traces/query/in-pieces.ts"
import type { Page } from "../../storage/traces/calls/scanned-calls.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { CallReadRequest, CallsQueryRequest, CallsQueryStatsRequest } from "../../wire/calls/call-read.ts"
import { chosenColumns, storedColumns } from "./call-columns.ts"
import { expandRows, findExpansions } from "./call-expansion.ts"
import { readExtras } from "./call-extras.ts"
import { callText } from "./call-record.ts"
import type { Principal } from "../../http/principal.ts"
import type { CallDependencies } from "../dependencies.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

/** Rows read at once: few at first, so that the first line comes soon, then more while they are small. */
const firstRows = 50
const mostRows = 20_000
const bytesAtOnce = 8 * 1024 ** 2

const payloads = new Set<CallColumn>(["attributes", "inputs", "output", "summary", "otel_dump"])
const mostRowsWithoutPayload = 100_000
const linesAtOnce = 2_000

/** The JSON texts of the calls asked for, in order, a batch at a time. */
export async function* queryCalls(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  request: CallsQueryRequest,
): AsyncGenerator<string[]> {
  const { traces } = dependencies
  const page = {
    limit: nonNegative("limit", request.limit) ?? null,
    offset: nonNegative("offset", request.offset) ?? 0,
  }
  const columns = chosenColumns({
    columns: request.columns ?? null,
    includeCosts: request.include_costs === true,
    includeUsernames: request.include_usernames === true,
    includeStorageSize: request.include_storage_size === true,
  })
  const selection = await selectionOf(dependencies, principal, project, request)
  const batches = readBatches(traces, selection, page, storedColumns(columns))
  const expanded = request.return_expanded_column_values === false ? [] : (request.expand_columns ?? [])
  const readPiece = async (rows: readonly CallRow[]) => ({
    some: rows,
    extras: await readExtras(dependencies, project, request, rows),
  })
  for await (const found of batches) {
    // The feedback on calls may be far larger than the calls.
    for await (const { some, extras } of inPieces(found, readPiece)) {
      for await (const rows of expandRows(dependencies, principal, some, expanded)) {
        yield rows.map((row) => callText(row, columns, extras(row)))
      }
    }
  }
}

async function* readBatches(
  traces: TraceStore,
  selection: CallsSelection,
  page: Page,
  columns: readonly CallColumn[],
): AsyncGenerator<CallRow[]> {
  const continued = continuedPage(traces, selection, page)
  const read = new ReadRows()
  for await (const rows of readPage(traces, continued.selection, continued.page, columns)) {
    read.add(rows)
    yield rows
  }
  continued.ended(read)
}

/** In order, with bounded memory however many there are. */
async function* readPage(
  traces: TraceStore,
  selection: CallsSelection,
  page: Page,
  columns: readonly CallColumn[],
): AsyncGenerator<CallRow[]> {
  if (page.limit === 0) return
  if (page.limit === null && page.offset === 0 && !columns.some((column) => payloads.has(column))) {
    const rows = await readAllCallRows(traces, selection, columns, mostRowsWithoutPayload)
    for (let from = 0; from < (rows?.length ?? 0); from += linesAtOnce)
      yield rows?.slice(from, from + linesAtOnce) ?? []
    if (rows !== null) return
  }
  const first = await readFirstRows(traces, selection, page, columns)
  if (first !== null) return yield first
  let count = firstRows
  for await (const calls of findCalls(traces, selection, page)) {
    for (let from = 0; from < calls.length;) {
      const some = calls.slice(from, from + count)
      from += some.length
      for await (const rows of piecesOf(traces, selection.projectId, some, columns)) {
        count = nextCount(count, rows)
        yield rows
      }
    }
  }
}

function nextCount(count: number, rows: readonly CallRow[]): number {
  const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 1)
  const fitting = Math.ceil((bytesAtOnce / bytes) * rows.length)
  return Math.max(1, Math.min(count * 4, fitting, mostRows))
}

function sizeOf({ attributes, inputs, output, summary, otel_dump }: CallRow): number {
  return [attributes, inputs, output, summary, otel_dump].reduce((sum, text) => sum + (text?.length ?? 0), 500)
}

/** The JSON text of one call; null: it is not there. */
export async function readCall(
  dependencies: CallDependencies,
  project: ProjectAccess,
  request: CallReadRequest,
): Promise<string | null> {
  const columns = chosenColumns({
    columns: null,
    includeCosts: request.include_costs === true,
    includeUsernames: false,
    includeStorageSize: request.include_storage_size === true,
  })
  const rows = await readCallRows(dependencies.traces, project.id, [request.id], storedColumns(columns))
  const [row] = rows
  if (row === undefined) return null
  const extras = await readExtras(dependencies, project, request, rows)
  return callText(row, columns, extras(row))
}

export async function queryCallStats(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  request: CallsQueryStatsRequest,
): Promise<{ count: number; has_more: boolean; total_storage_size_bytes: number | null }> {
  const limit = nonNegative("limit", request.limit) ?? null
  const { traces } = dependencies
  const selection = await selectionOf(dependencies, principal, project, { ...request, sort_by: [] })
  // One more than the limit tells whether there are more.
  const found = await countCalls(traces, selection, limit === null ? null : limit + 1)
  const count = limit === null ? found : Math.min(found, limit)
  const bytes = request.include_total_storage_size === true ? await traceBytes(traces, selection) : null
  return { count, has_more: found > count, total_storage_size_bytes: bytes }
}

export async function selectionOf(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  request: Pick<CallsQueryRequest, "filter" | "query" | "sort_by" | "expand_columns">,
): Promise<CallsSelection> {
  const { filter, query, sort_by, expand_columns } = request
  const calls = { projectId: project.id, projectName: project.name, filter: filter ?? {} }
  const kept = await retentionDays(dependencies.database, project.id)
  const fields = [...fieldsOf(query?.$expr ?? {}), ...(sort_by ?? []).map(({ field }) => field)]
  const expansions = await findExpansions(dependencies, principal, calls, expand_columns ?? [], fields)
  return selectCalls({ ...calls, retentionDays: kept, query: query ?? null, sortBy: sort_by ?? null, expansions })
}

function nonNegative(name: string, value: number | null | undefined): number | null | undefined {
  if (value !== null && value !== undefined && value < 0) {
    throw new HeddleError("value_error", `${name} must be a non-negative integer, not ${value}`)
  }
  return value
}
