import { freeBytes } from "../../../../work/byte-memory.ts"
import { usageOf } from "../../../team-usage.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { type CallBatch, callColumns } from "./call-batch.ts"
import { placeColumns } from "./call-places.ts"
import { callPlacesTable, callsTable } from "../calls-tables.ts"

/** The rows of one batch are stored whole or not at all. */
export async function insertCalls(traces: TraceStore, batches: readonly CallBatch[]): Promise<void> {
  const places = joined(batches.map((batch) => batch.places))
  const rows = joined(batches.map((batch) => batch.rows))
  const agentSpans = joined(batches.flatMap((batch) => batch.agentSpans ?? []))
  await Promise.all([
    traces.insertCsv(callPlacesTable, placeColumns, places),
    traces.insertCsv(callsTable, callColumns, rows),
    traces.insert("agent_spans", agentSpans),
  ])
  // They are copies.
  if (batches.length > 1) freeBytes(places, rows, agentSpans)
  const usage = usageOf(traces)
  if (usage === null) return
  for (const { bytesOf } of batches) for (const [projectId, bytes] of bytesOf) usage.ofProject(projectId, bytes)
}

/** A copy of 60 MiB stops the event loop for a tenth of a second: one alone, which may be that large, is not copied. */
function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts)
}
