/** How far queues are and who works on them, for whoever opens a page of theirs. */
import { can } from "../../access/can.ts"
import { existingProject } from "../../access/project-access.ts"
import type { Principal } from "../../http/principal.ts"
import { countAnnotators, countWork } from "../../storage/catalog/labelling/annotation-work.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findUsernames } from "../../storage/catalog/accounts/usernames.ts"
import type { QueueWorkAnswer } from "../../wire/labelling/annotation-work.ts"

export async function readWork(
  database: CatalogDatabase,
  principal: Principal,
  { project_id, queue_ids }: { project_id: string; queue_ids: readonly string[] },
): Promise<QueueWorkAnswer> {
  const project = await existingProject(database, principal, project_id)
  const counts = await countWork(database, project.id, queue_ids, project.userId)
  const annotators = await countAnnotators(
    database,
    counts.map(({ queueId }) => queueId),
  )
  const names = await findUsernames(database, [...new Set(annotators.map(({ userId }) => userId))])
  const byQueue = Map.groupBy(annotators, ({ queueId }) => queueId)
  return {
    caller: {
      user_id: project.userId,
      username: principal.username,
      may_label: can(principal, "label", project),
      may_write: can(principal, "write", project),
    },
    queues: queue_ids.flatMap((id) => {
      const found = counts.find(({ queueId }) => queueId === id.toLowerCase())
      if (found === undefined) return []
      const { queueId, total, finished, held, part, returned, open, ownCompleted, ownSkipped, ownOpen } = found
      return [
        {
          queue_id: queueId,
          total_items: total,
          items: { finished, held, part, returned, open },
          own: { completed: ownCompleted, skipped: ownSkipped, open: ownOpen },
          annotators: (byQueue.get(queueId) ?? [])
            .map(({ userId, completed, skipped, holding, lastActiveAt }) => ({
              annotator_user_id: userId,
              username: names.get(userId) ?? null,
              completed,
              skipped,
              holding,
              last_active_at: lastActiveAt,
            }))
            .toSorted((a, b) => ((a.username ?? "") < (b.username ?? "") ? -1 : 1)),
        },
      ]
    }),
  }
}
