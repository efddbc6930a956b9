/** Renaming and deleting calls: evaluation-store-calls 2.3. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { withDescendants } from "../../storage/traces/calls/call-descendants.ts"
import type { CallBatch, CallWriter } from "../../storage/traces/calls/calls-write.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { callsDeleteBody, callUpdateBody } from "../../wire/evaluation/call-write.ts"
import { checkDisplayName } from "./call-rules.ts"
import { projectForWrite } from "../project-access.ts"

export interface ChangeDependencies {
  database: CatalogDatabase
  traces: TraceStore
  writer: CallWriter
}

export const maximumDeletedIds = 1000

/** Also of a call that is not there yet: the name waits for it. */
export async function updateCall(
  { database, writer }: ChangeDependencies,
  principal: Principal,
  { project_id, call_id, display_name }: z.output<typeof callUpdateBody>,
): Promise<void> {
  if (display_name == null) throw new HeddleError("value_error", "One of [display_name] is required for call update")
  checkDisplayName(display_name)
  const project = await projectForWrite(database, principal, project_id)
  await writer.add(changes([{ project_id: project.id, id: call_id, display_name: display_name.toWellFormed() }]))
}

/** Returns how many calls were deleted: those named that exist, and all below them. */
export async function deleteCalls(
  { database, traces, writer }: ChangeDependencies,
  principal: Principal,
  { project_id, call_ids }: z.output<typeof callsDeleteBody>,
): Promise<number> {
  if (call_ids.length > maximumDeletedIds) {
    const message = `call_ids has ${call_ids.length} ids; one request may delete ${maximumDeletedIds}. Send several requests`
    throw new HeddleError("payload_too_large", message)
  }
  const project = await projectForWrite(database, principal, project_id)
  const ids = call_ids.length === 0 ? [] : await withDescendants(traces, project.id, call_ids)
  const deleted_at = new Date().toISOString().slice(0, -1).replace("T", " ")
  await writer.add(changes(ids.map((id) => ({ project_id: project.id, id, deleted_at }))))
  return ids.length
}

function changes(rows: readonly Readonly<Record<string, string>>[]): CallBatch {
  return { rows: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join("")), places: Buffer.alloc(0) }
}
