/** Deleting feedback by id: evaluation-store-objects 5. */
import type { Principal } from "../../http/principal.ts"
import { type AuditEntry, auditedAround, manyDeleted } from "../../storage/catalog/accounts/audit-logs.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { feedbackLines, findFeedback, insertFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { RowPurgeBody } from "../../wire/queries/row-query.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { existingProject } from "../../access/project-access.ts"
import { idsToPurge } from "../../objects/requests/purge-ids.ts"

/** Ids that are not there are no error. */
export async function purgeFeedback(
  { database, traces }: StoreDependencies,
  principal: Principal,
  { project_id, query }: RowPurgeBody,
): Promise<Record<string, never>> {
  const ids = idsToPurge(query.$expr, "feedback", { in: false })
  const project = await existingProject(database, principal, project_id)
  const found = await findFeedback(traces, project.id, ids)
  if (found.length > 0) {
    const details = manyDeleted(ids, found.length)
    const entry: AuditEntry = { type: "feedback.deleted", team: project.entity, resourceId: project.name, details }
    await auditedAround(database, principal, entry, () => insertFeedback(traces, feedbackLines([], found)))
    usageOf(database)?.changed(project.entityId)
  }
  return {}
}
