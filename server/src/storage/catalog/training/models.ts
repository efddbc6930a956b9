/** Trainable models (training-api 1.2). A deleted model stays as a tombstone. */
import { sql } from "kysely"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isUuid } from "../identifiers.ts"
import { isStorable } from "../storable-text.ts"
import { entityOf, noSuchProject } from "../accounts/projects.ts"
import { requireOneMore } from "../accounts/team-quotas.ts"

export interface ModelRecord {
  id: string
  projectId: string
  entity: string
  project: string
  name: string
  baseModel: string
  basePath: string | null
  runId: string
  lastStep: number
}

export interface NewModel {
  projectId: string
  name: string
  baseModel: string
  basePath: string | null
}

/**
 * The model and its step-0 checkpoint, in one transaction. null: a live model has this name.
 * @throws {HeddleError} `quota_exceeded`.
 */
export async function createModel(database: CatalogDatabase, model: NewModel): Promise<ModelRecord | null> {
  return inTransaction(database, async (transaction) => {
    await requireOneMore(transaction, await entityOf(transaction, model.projectId), "models")
    const inserted = await transaction
      .insertInto("models")
      .values({
        project_id: model.projectId,
        name: model.name,
        base_model: model.baseModel,
        base_path: model.basePath,
        run_id: model.name,
      })
      .onConflict((on) => on.columns(["project_id", "name"]).where("deleted_at", "is", null).doNothing())
      .returning("id")
      .executeTakeFirst()
    if (inserted === undefined) return null
    await transaction
      .insertInto("checkpoints")
      .values({ model_id: inserted.id, step: 0, metrics: "{}", path: null, size_bytes: 0 })
      .execute()
    const row = await liveModels(transaction).where("models.id", "=", inserted.id).executeTakeFirst()
    if (row === undefined) throw noSuchProject()
    return toModelRecord(row)
  })
}

/** A live model of one of these entities. */
export async function findModel(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<ModelRecord | null> {
  if (!isUuid(id)) return null
  const row = await liveModels(database)
    .where("models.id", "=", id)
    .where("projects.entity_id", "in", entityIds)
    .executeTakeFirst()
  return row === undefined ? null : toModelRecord(row)
}

export async function findModelByName(
  database: CatalogDatabase,
  projectId: string,
  name: string,
): Promise<ModelRecord | null> {
  const row = await liveModels(database)
    .where("models.project_id", "=", projectId)
    .where("models.name", "=", name)
    .executeTakeFirst()
  return row === undefined ? null : toModelRecord(row)
}

/** A live model by its three names, of one of these entities. */
export async function findModelByPath(
  database: CatalogDatabase,
  entityIds: readonly string[],
  path: { entity: string; project: string; name: string },
): Promise<ModelRecord | null> {
  if (![path.entity, path.project, path.name].every(isStorable)) return null
  const row = await liveModels(database)
    .where("entities.id", "in", entityIds)
    .where("entities.name", "=", path.entity)
    .where("projects.name", "=", path.project)
    .where("models.name", "=", path.name)
    .executeTakeFirst()
  return row === undefined ? null : toModelRecord(row)
}

export interface DeletedModel {
  id: string
  entity: string
  project: string
  name: string
  /** false: it was deleted before. */
  isNew: boolean
  projectId: string
  /** Checkpoints that were live until the model was deleted. */
  checkpoints: number
  /** Size of their files. */
  bytes: number
}

/**
 * Deletes the model with its checkpoints. Repeatable: a model deleted before gives the same answer
 * again. null: no such model in these entities, dead or alive.
 */
export async function deleteModel(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<DeletedModel | null> {
  if (!isUuid(id)) return null
  return inTransaction(database, async (transaction) => {
    const model = await transaction
      .selectFrom("models")
      .innerJoin("projects", "projects.id", "models.project_id")
      .innerJoin("entities", "entities.id", "projects.entity_id")
      .select(["models.name", "models.deleted_at", "projects.name as project", "entities.name as entity"])
      .select("models.project_id as projectId")
      .where("models.id", "=", id)
      .where("projects.entity_id", "in", entityIds)
      .forUpdate("models")
      .executeTakeFirst()
    if (model === undefined) return null
    const deletedAt = model.deleted_at ?? new Date()
    if (model.deleted_at === null) {
      await transaction.updateTable("models").set({ deleted_at: deletedAt }).where("id", "=", id).execute()
      await transaction
        .updateTable("checkpoints")
        .set({ deleted_at: deletedAt })
        .where("model_id", "=", id)
        .where("deleted_at", "is", null)
        .execute()
    }
    const { count, bytes } = await transaction
      .selectFrom("checkpoints")
      .select(({ fn }) => [fn.countAll<number>().as("count"), fn.sum<string>("size_bytes").as("bytes")])
      .where("model_id", "=", id)
      .where("deleted_at", "=", deletedAt)
      .executeTakeFirstOrThrow()
    const { entity, project, projectId, name } = model
    const isNew = model.deleted_at === null
    return { id, entity, project, projectId, name, isNew, checkpoints: count, bytes: Number(bytes ?? 0) }
  })
}

/** Those of `ids`, which are uuids, that were deleted. */
export async function deletedModels(database: CatalogDatabase, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await database
    .selectFrom("models")
    .select("id")
    .where("deleted_at", "is not", null)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute()
  return rows.map((row) => row.id)
}

export function liveModels(database: CatalogDatabase) {
  return database
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select([
      "models.id",
      "models.project_id",
      "entities.name as entity",
      "projects.name as project",
      "models.name",
      "models.base_model",
      "models.base_path",
      "models.run_id",
      "models.last_step",
    ])
    .where("models.deleted_at", "is", null)
}

interface ModelRow {
  id: string
  project_id: string
  entity: string
  project: string
  name: string
  base_model: string
  base_path: string | null
  run_id: string
  last_step: number
}

export function toModelRecord(row: ModelRow): ModelRecord {
  const { id, entity, project, name } = row
  return {
    id,
    projectId: row.project_id,
    entity,
    project,
    name,
    baseModel: row.base_model,
    basePath: row.base_path,
    runId: row.run_id,
    lastStep: row.last_step,
  }
}
