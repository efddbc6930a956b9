/** Additions to rows by the flags of a calls query: evaluation-store-calls 3.2, 3.4. Each is read once for some rows together. */
import { formatRef } from "../../objects/refs/refs.ts"
import { attachedFields } from "../../labelling/feedback/feedback-types.ts"
import { retentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import { findUsernames } from "../../storage/catalog/accounts/usernames.ts"
import { selectFeedback } from "../../storage/traces/labelling/feedback-query.ts"
import { type CallRow, readTraceBytes } from "../../storage/traces/calls/call-row-reads.ts"
import type { CallsQueryRequest } from "../../wire/calls/call-read.ts"
import type { CallExtras } from "./call-record.ts"
import type { CallDependencies } from "../dependencies.ts"
import { costEntry, openPriceBook } from "../costs/prices.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { reportedUsage } from "../usage/token-usage.ts"

export type Inclusions = Pick<
  CallsQueryRequest,
  "include_costs" | "include_feedback" | "include_total_storage_size" | "include_usernames"
>

/** @throws {HeddleError} `query_memory` where they are too large for so many rows together: read those of fewer. */
export async function readExtras(
  dependencies: CallDependencies,
  project: ProjectAccess,
  inclusions: Inclusions,
  rows: readonly CallRow[],
): Promise<(row: CallRow) => CallExtras> {
  const [kept, totals, costs, feedback, usernames] = await Promise.all([
    retentionDays(dependencies.database, project.id),
    inclusions.include_total_storage_size === true ? totalBytes(dependencies, project, rows) : null,
    inclusions.include_costs === true ? costsOf(dependencies, project, rows) : null,
    inclusions.include_feedback === true ? feedbackOf(dependencies, project, rows) : null,
    inclusions.include_usernames === true ? usernamesOf(dependencies, rows) : null,
  ])
  return (row) => {
    const extras: CallExtras = { projectName: project.name, retentionDays: kept }
    if (totals !== null)
      extras.totalStorageSizeBytes = row.parent_id === null ? (totals.get(row.trace_id) ?? null) : null
    const cost = costs?.get(row.id)
    if (cost !== undefined) extras.costs = cost
    if (feedback !== null) extras.feedback = `[${(feedback.get(row.id) ?? []).join(",")}]`
    if (usernames !== null) extras.username = usernames.get(row.wb_user_id ?? "") ?? null
    return extras
  }
}

function totalBytes({ traces }: CallDependencies, project: ProjectAccess, rows: readonly CallRow[]) {
  const traceIds = new Set(rows.filter((row) => row.parent_id === null).map((row) => row.trace_id))
  return readTraceBytes(traces, project.id, [...traceIds])
}

/** The JSON of `summary.weave.costs`, for calls whose usage names a model with a price. */
async function costsOf(
  dependencies: CallDependencies,
  project: ProjectAccess,
  rows: readonly CallRow[],
): Promise<Map<string, string>> {
  const usages = rows.map((row) => ({ row, models: reportedUsage(row) }))
  const prices = await openPriceBook(
    dependencies,
    project,
    usages.flatMap(({ models }) => [...models.keys()]),
  )
  const costs = new Map<string, string>()
  for (const { row, models } of usages) {
    const entries = [...models].flatMap(([model, usage]) => {
      const price = prices.find(model, row.started_at)
      return price === null ? [] : [[model, costEntry(usage, price)] as const]
    })
    if (entries.length > 0) costs.set(row.id, JSON.stringify(Object.fromEntries(entries)))
  }
  return costs
}

/** Limit on the feedback on several calls together: it is parsed at once, on the main thread. */
const pieceBytes = 16 * 1024 ** 2

/** JSON texts of the feedback on each call, oldest first; payloads as they came. */
async function feedbackOf(
  { traces }: CallDependencies,
  project: ProjectAccess,
  rows: readonly CallRow[],
): Promise<Map<string, string[]>> {
  const byCall = new Map<string, string[]>()
  if (rows.length === 0) return byCall
  const prefix = formatRef(project.name, "call", "")
  const weaveRefs = rows.map((row) => prefix + row.id)
  const selection = { projectId: project.id, projectName: project.name, where: null, weaveRefs }
  const page = { fields: attachedFields, sortBy: null, limit: null, offset: 0 }
  const mostBytes = rows.length > 1 ? pieceBytes : undefined
  for (const values of await selectFeedback(traces, selection, page, mostBytes)) {
    const id = String(values[attachedFields.indexOf("weave_ref")]).slice(prefix.length)
    byCall.getOrInsertComputed(id, () => []).push(feedbackText(values))
  }
  return byCall
}

function feedbackText(values: readonly unknown[]): string {
  const members = attachedFields.map((field, index) => {
    const value = values[index]
    return `"${field}":${field === "payload" ? String(value) : JSON.stringify(value)}`
  })
  return `{${members.join(",")}}`
}

function usernamesOf({ database }: CallDependencies, rows: readonly CallRow[]): Promise<Map<string, string>> {
  const ids = new Set(rows.flatMap((row) => row.wb_user_id ?? []))
  return findUsernames(database, [...ids])
}
