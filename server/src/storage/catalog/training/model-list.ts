/** Models of projects, as a list shows them. */
import { sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { openStatuses } from "./job-claims.ts"
import { type ModelRecord, liveModels, toModelRecord } from "./models.ts"
import { isStorable, likePart } from "../storable-text.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface ListedModel extends ModelRecord {
  createdAt: Date
  /** Step of the newest checkpoint, or null if all were deleted. */
  latestStep: number | null
  latestStepAt: Date | null
  /** Queued, running and paused. */
  openJobs: number
}

export interface ModelSelection {
  entityIds: readonly string[]
  /** Names; null: any. */
  entity: string | null
  project: string | null
  name: string | null
  /** Part of the name, in any case; null: any. */
  part: string | null
  /** Strictly after this model; null begins with the newest. */
  afterId: string | null
  limit: number
}

/** Live models, the newest first. */
export async function listModels(database: CatalogDatabase, selection: ModelSelection): Promise<ListedModel[]> {
  const { entityIds, entity, project, name, part, afterId, limit } = selection
  const names = [entity, project, name, part].filter((one) => one !== null)
  if (entityIds.length === 0 || !names.every(isStorable)) return []
  let query = liveModels(database).where("entities.id", "in", entityIds)
  if (entity !== null) query = query.where("entities.name", "=", entity)
  if (project !== null) query = query.where("projects.name", "=", project)
  if (name !== null) query = query.where("models.name", "=", name)
  if (part !== null) query = query.where("models.name", "ilike", likePart(part))
  if (afterId !== null) {
    const after = database.selectFrom("models").select(["created_at", "id"]).where("id", "=", afterId)
    query = query.where(sql<boolean>`(models.created_at, models.id) < (${after})`)
  }
  const rows = await query
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("checkpoints as c")
          .select(["c.step as latest_step", "c.created_at as latest_step_at"])
          .whereRef("c.model_id", "=", "models.id")
          .where("c.deleted_at", "is", null)
          .orderBy("c.step", "desc")
          .limit(1)
          .as("latest"),
      (join) => join.onTrue(),
    )
    .select(["models.created_at", "latest.latest_step", "latest.latest_step_at"])
    .select((eb) =>
      eb
        .selectFrom("training_jobs as j")
        .select(sql<number>`count(*)::int`.as("open_jobs"))
        .whereRef("j.model_id", "=", "models.id")
        .where("j.status", "in", openStatuses)
        .as("open_jobs"),
    )
    .orderBy("models.created_at", "desc")
    .orderBy("models.id", "desc")
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    ...toModelRecord(row),
    createdAt: row.created_at,
    latestStep: row.latest_step,
    latestStepAt: row.latest_step_at,
    openJobs: row.open_jobs ?? 0,
  }))
}

/** Whether a model of these entities has or had this id. */
export async function isKnownModel(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<boolean> {
  if (!isUuid(id) || entityIds.length === 0) return false
  const row = await database
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .select("models.id")
    .where("models.id", "=", id)
    .where("projects.entity_id", "in", entityIds)
    .executeTakeFirst()
  return row !== undefined
}
