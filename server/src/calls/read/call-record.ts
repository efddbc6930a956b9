/** A call as its JSON text: evaluation-store-calls 3.1, 3.2. Payload texts are spliced in as they came (law 3). */
import { memberText, withMembers } from "../../json/json-members.ts"
import { expireAt } from "../../storage/traces/calls/fields/call-expiry.ts"
import type { CallColumn, CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { ShownColumn } from "./call-columns.ts"
import { callDuration } from "./call-duration.ts"

/** Members that do not come from the row, as JSON texts. */
export interface CallExtras {
  /** `entity/project`. */
  projectName: string
  /** For which the project keeps calls; null: until they are deleted. */
  retentionDays: number | null
  username?: string | null
  totalStorageSizeBytes?: string | null
  /** Under `summary.weave`. */
  costs?: string
  feedback?: string
}

/**
 * Formats a row as JSON. Payloads that were not chosen are empty, because clients need them; other columns that were
 * not chosen are left out, because an `ended_at` of null would mean that the call is running.
 */
export function callText(row: CallRow, columns: ReadonlySet<ShownColumn>, extras: CallExtras): string {
  const chosen = <C extends CallColumn>(column: C) => (columns.has(column) ? (row[column] ?? null) : undefined)
  // One call of the runtime's own printer: a trace of 50,000 calls goes through here.
  const texts = JSON.stringify({
    id: row.id,
    project_id: extras.projectName,
    op_name: row.op_name ?? "",
    trace_id: row.trace_id ?? "",
    started_at: row.started_at,
    ended_at: chosen("ended_at"),
    display_name: chosen("display_name"),
    parent_id: row.parent_id,
    thread_id: chosen("thread_id"),
    turn_id: chosen("turn_id"),
    exception: chosen("exception"),
    wb_user_id: chosen("wb_user_id"),
    wb_username: extras.username,
    wb_run_id: chosen("wb_run_id"),
    deleted_at: null,
    expire_at: columns.has("expire_at") ? expireAt(row.started_at, extras.retentionDays) : undefined,
  })
  const summary = columns.has("summary") ? summaryText(row, extras) : "{}"
  const payloads = `"attributes":${attributesText(row)},"inputs":${row.inputs ?? "{}"},"output":${row.output ?? "null"},"summary":${summary}`
  const steps = (["wb_run_step", "wb_run_step_end"] as const)
    .map((column) => (columns.has(column) ? `"${column}":${row[column] ?? "null"},` : ""))
    .join("")
  const total = extras.totalStorageSizeBytes ?? "null"
  const sizes = `"storage_size_bytes":${row.storage_size_bytes ?? "null"},"total_storage_size_bytes":${total}`
  return `${texts.slice(0, -1)},${steps}${payloads},${sizes}}`
}

function attributesText({ attributes, otel_dump }: CallRow): string {
  const text = attributes ?? "{}"
  return otel_dump === null || otel_dump === undefined || otel_dump === "null"
    ? text
    : withMembers(text, { otel_span: otel_dump })
}

/** The client's own keys under `summary.weave` are kept and overlaid. */
function summaryText(row: CallRow, { costs, feedback }: CallExtras): string {
  const summary = row.summary ?? "{}"
  const computed: Record<string, string> = { status: `"${statusOf(row)}"`, ...nameOf(row) }
  const duration = callDuration(row)
  if (duration !== null) computed["latency_ms"] = String(duration / 1000n)
  if (costs !== undefined) computed["costs"] = costs
  if (feedback !== undefined) computed["feedback"] = feedback
  return withMembers(summary, { weave: withMembers(memberText(summary, "weave") ?? "{}", computed) })
}

export function statusOf({ exception, ended_at, summary }: CallRow): string {
  if (exception !== null && exception !== undefined) return "error"
  if (ended_at === null || ended_at === undefined) return "running"
  return hasFailedDescendants(summary ?? "") ? "descendant_error" : "success"
}

function hasFailedDescendants(summary: string): boolean {
  const counts = memberText(summary, "status_counts")
  const errors = counts === null ? null : memberText(counts, "error")
  return errors !== null && Number(errors) > 0
}

const opRef = /^weave:\/\/\/[^/]+\/[^/]+\/(?:op|object)\/([^/:]+):/

/** The display name, else the op's: never both (calls 3.2). */
function nameOf({ display_name, op_name }: CallRow): Record<string, string> {
  if (display_name !== null && display_name !== undefined) return { display_name: JSON.stringify(display_name) }
  const name = opRef.exec(op_name)?.[1] ?? (op_name.startsWith("weave:///") ? undefined : op_name)
  return name === undefined ? {} : { trace_name: JSON.stringify(name) }
}
