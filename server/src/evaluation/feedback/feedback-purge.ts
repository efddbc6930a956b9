/** Deleting feedback by id: evaluation-store-objects 5. */
import type { Principal } from "../../http/principal.ts"
import { type AuditEntry, auditedAround, manyDeleted } from "../../storage/catalog/audit-logs.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { feedbackLines, findFeedback, insertFeedback } from "../../storage/traces/feedback/feedback-rows.ts"
import type { RowPurgeBody } from "../../wire/evaluation/row-query.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { existingProject } from "../../access/project-access.ts"
import { idsToPurge } from "../requests/purge-ids.ts"

/** Ids that are not there are no error. */
export async function purgeFeedback(
  { database, traces }: EvaluationDependencies,
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
