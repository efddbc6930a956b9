/** Deleting feedback by id: evaluation-store-objects 5. */
import type { Principal } from "../../http/principal.ts"
import { findFeedback, writeFeedback } from "../../storage/traces/feedback/feedback-rows.ts"
import type { RowPurgeBody } from "../../wire/evaluation/row-query.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { projectForRead } from "../project-access.ts"
import { idsToPurge } from "../requests/purge-ids.ts"

/** Ids that are not there are no error. */
export async function purgeFeedback(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  { project_id, query }: RowPurgeBody,
): Promise<Record<string, never>> {
  const ids = idsToPurge(query.$expr, "feedback", { in: false })
  const project = await projectForRead(database, principal, project_id)
  const found = await findFeedback(traces, project.id, ids)
  await writeFeedback(traces, [], found)
  return {}
}
