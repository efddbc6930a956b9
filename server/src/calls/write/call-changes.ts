/** Renaming and deleting calls: evaluation-store-calls 2.3. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type AuditEntry, auditedAround, manyDeleted } from "../../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { deleteAgentSpans } from "../../storage/traces/agents/span-table.ts"
import { forgetPages } from "../../storage/traces/calls/continued-pages.ts"
import { CallBatchBuilder } from "../../storage/traces/calls/insert/call-batch.ts"
import { withDescendants } from "../../storage/traces/calls/call-descendants.ts"
import type { CallWriter } from "../../storage/traces/calls/insert/calls-write.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { callsDeleteBody, callUpdateBody } from "../../wire/calls/call-write.ts"
import { checkDisplayName, isCallId } from "./call-rules.ts"
import { ensureProjectWithoutRoom, ensureProject } from "../../access/project-access.ts"

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
  const project = await ensureProject(database, principal, project_id)
  // No call will ever have another id.
  if (!isCallId(call_id)) return
  const rows = new CallBatchBuilder(rowBytes + 3 * display_name.length)
  rows.add({ projectId: project.id, id: call_id }, { display_name }, {}, { isKnown: true })
  await writer.add(rows.batch())
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
  const project = await ensureProjectWithoutRoom(database, principal, project_id)
  const calls = call_ids.length === 0 ? [] : await withDescendants(traces, project.id, call_ids)
  if (calls.length === 0) return 0
  const deleted_at = new Date().toISOString().slice(0, -1).replace("T", " ")
  const rows = new CallBatchBuilder(rowBytes * calls.length)
  for (const { id, sort_time } of calls) {
    rows.add({ projectId: project.id, id, sortTime: sort_time }, { deleted_at }, {}, { isKnown: true })
  }
  const details = manyDeleted(call_ids, calls.length)
  const entry: AuditEntry = { type: "call.deleted", team: project.entity, resourceId: project.name, details }
  const ids = calls.map(({ id }) => id)
  await auditedAround(database, principal, entry, async () => {
    // First: a deletion that is repeated after a failure finds no call that was deleted already.
    await deleteAgentSpans(traces, project.id, ids)
    await writer.add(rows.batch())
    forgetPages(traces, project.id)
    // Again: one that was sent once more meanwhile did not find its call deleted yet.
    await deleteAgentSpans(traces, project.id, ids)
  })
  usageOf(database)?.changed(project.entityId)
  return calls.length
}

/** Size of a row with few values. */
const rowBytes = 256
