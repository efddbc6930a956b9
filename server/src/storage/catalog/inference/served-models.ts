/** Model names to what serves them, read at admission of every request (inference-api 2). */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

/** A checkpoint by name. `step` and `version` null: the newest. `version` N is the N-th committed one, from 0. */
export interface CheckpointName {
  entityIds: readonly string[]
  entity: string
  project: string
  name: string
  step: number | null
  version: number | null
}

export interface NamedCheckpoint {
  modelId: string
  projectId: string
  baseModel: string
  basePath: string | null
  createdAt: Date
  /** null: the model is there, the checkpoint is not, or not any more. */
  checkpoint: { step: number; path: string | null; manifestSha256: string | null } | null
}

/** One answer per name, in order; null where these entities have no such model. One query for all. */
export async function findCheckpoints(
  database: CatalogDatabase,
  names: readonly CheckpointName[],
): Promise<(NamedCheckpoint | null)[]> {
  const lookups = names.map((name, place) => ({
    ...name,
    place,
    entity_ids: name.entityIds.join(","),
  }))
  const { rows } = await sql<CheckpointRow>`
    select r.place, m.id, m.project_id, m.base_model, m.base_path, m.created_at, c.step, c.path, c.manifest_sha256
    from json_to_recordset(${JSON.stringify(lookups)}::json)
      as r(place int, entity_ids text, entity text, project text, name text, step int, version int)
    join entities e on e.name = r.entity and e.id::text = any(string_to_array(r.entity_ids, ','))
    join projects p on p.entity_id = e.id and p.name = r.project
    join models m on m.project_id = p.id and m.name = r.name and m.deleted_at is null
    left join lateral (
      select k.step, k.path, k.manifest_sha256 from checkpoints k
      where k.model_id = m.id and k.deleted_at is null
        and (r.step is null or k.step = r.step)
        and (r.version is null or k.step =
          (select v.step from checkpoints v where v.model_id = m.id order by v.step offset r.version limit 1))
      order by k.step desc
      limit 1) c on true`.execute(database)
  const found: (NamedCheckpoint | null)[] = names.map(() => null)
  for (const row of rows) found[row.place] = toNamed(row)
  return found
}

interface CheckpointRow {
  place: number
  id: string
  project_id: string
  base_model: string
  base_path: string | null
  created_at: Date
  step: number | null
  path: string | null
  manifest_sha256: string | null
}

function toNamed(row: CheckpointRow): NamedCheckpoint {
  const { step, path, manifest_sha256: manifestSha256 } = row
  const checkpoint = step === null ? null : { step, path, manifestSha256 }
  return {
    modelId: row.id,
    projectId: row.project_id,
    baseModel: row.base_model,
    basePath: row.base_path,
    createdAt: row.created_at,
    checkpoint,
  }
}

export interface UsedBase {
  name: string
  path: string | null
}

/** Base models that live models of these entities were made from. */
export async function basesInUse(database: CatalogDatabase, entityIds: readonly string[]): Promise<UsedBase[]> {
  return modelsOf(database, entityIds)
    .select(["models.base_model as name", "models.base_path as path"])
    .distinct()
    .orderBy("models.base_model")
    .execute()
}

export interface ListedModel {
  entity: string
  project: string
  name: string
  baseModel: string
  createdAt: Date
}

export async function listServedModels(
  database: CatalogDatabase,
  entityIds: readonly string[],
): Promise<ListedModel[]> {
  const rows = await modelsOf(database, entityIds)
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select([
      "entities.name as entity",
      "projects.name as project",
      "models.name",
      "models.base_model",
      "models.created_at",
    ])
    .orderBy("models.created_at")
    .execute()
  return rows.map(({ entity, project, name, base_model, created_at }) => ({
    entity,
    project,
    name,
    baseModel: base_model,
    createdAt: created_at,
  }))
}

function modelsOf(database: CatalogDatabase, entityIds: readonly string[]) {
  return database
    .selectFrom("models")
    .innerJoin("projects", "projects.id", "models.project_id")
    .where("models.deleted_at", "is", null)
    .where("projects.entity_id", "in", entityIds)
}
