/** Gives back the disk that payloads of deleted calls take. The rows stay, and say that the call is deleted. */
import type { TraceStore } from "../../store/trace-store.ts"
import { callsTable } from "../calls-tables.ts"

/** Columns that clients fill, of any size. */
const payloads = ["attributes", "inputs", "output", "summary", "otel_dump", "exception"]

const isDeleted = `(project_id, sort_time, id) in (
  select project_id, sort_time, id from ${callsTable} where isNotNull(deleted_at))`
const hasPayload = `(${payloads.map((column) => `notEmpty(${column})`).join(" or ")})`

/**
 * Returns whether there was anything to remove. A mutation writes the columns of the parts with such calls anew, and runs
 * only then. Empty instead of null, over which ClickHouse would leave the text where it was.
 */
export async function removeDeletedPayloads(traces: TraceStore): Promise<boolean> {
  const condition = `${isDeleted} and ${hasPayload}`
  const found = await traces.rows(`select 1 from ${callsTable} where ${condition} limit 1`, {}, { threads: 1 })
  if (found.length === 0) return false
  const emptied = payloads.map((column) => `${column} = ''`).join(", ")
  await traces.command(`alter table ${callsTable} update ${emptied} where ${condition} settings mutations_sync = 2`)
  return true
}
