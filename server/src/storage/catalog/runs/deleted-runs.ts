/** Deleted runs, as long as the trace store may have rows of them. */
import type { CatalogDatabase } from "../open-catalog.ts"
import { idListOf } from "../text-lists.ts"

interface DeletedRun {
  id: string
  projectId: string
  /** Of the team that has the project. */
  entityId: string
  deletedAt: Date
}

/** Those of one project come one after another. */
export async function deletedRuns(database: CatalogDatabase): Promise<DeletedRun[]> {
  return database
    .selectFrom("deleted_runs")
    .innerJoin("all_projects", "all_projects.id", "deleted_runs.project_id")
    .select(["deleted_runs.id", "deleted_runs.project_id as projectId", "all_projects.entity_id as entityId"])
    .select("deleted_runs.deleted_at as deletedAt")
    .orderBy("deleted_runs.project_id")
    .orderBy("deleted_runs.id")
    .execute()
}

/** Call it for runs of which nothing is left, and nothing will come. */
export async function forgetDeletedRuns(database: CatalogDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await database.deleteFrom("deleted_runs").where("id", "in", idListOf(ids)).execute()
}
