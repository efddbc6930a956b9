/** Checkpoints of a model (training-api 4). Deleted ones stay as tombstones, so that paging past them works. */
import { sql } from "kysely"
import { isUuid } from "./identifiers.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import { listOf } from "./text-lists.ts"

/** The column is a 32-bit integer. */
const highestStep = 2 ** 31 - 1

export interface CheckpointRecord {
  id: string
  step: number
  metrics: Record<string, number>
  path: string | null
  sizeBytes: number
  createdAt: Date
}

/** The step that the checkpoint `id` of this model has or had. */
export async function stepOfCheckpoint(database: CatalogDatabase, modelId: string, id: string): Promise<number | null> {
  if (!isUuid(id)) return null
  const row = await database
    .selectFrom("checkpoints")
    .select("step")
    .where("model_id", "=", modelId)
    .where("id", "=", id)
    .executeTakeFirst()
  return row?.step ?? null
}

export interface CheckpointRange {
  /** Strictly after this step in the given order; null begins at the first. */
  afterStep: number | null
  order: "asc" | "desc"
  limit: number
}

export async function listCheckpoints(
  database: CatalogDatabase,
  modelId: string,
  range: CheckpointRange,
): Promise<CheckpointRecord[]> {
  let query = liveCheckpoints(database, modelId).orderBy("step", range.order).limit(range.limit)
  if (range.afterStep !== null) query = query.where("step", range.order === "asc" ? ">" : "<", range.afterStep)
  const rows = await query.execute()
  return rows.map(toRecord)
}

export async function findCheckpoint(
  database: CatalogDatabase,
  modelId: string,
  step: number,
): Promise<CheckpointRecord | null> {
  if (step > highestStep) return null
  const row = await liveCheckpoints(database, modelId).where("step", "=", step).executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

/** Deletes these steps and returns what was deleted. Steps that are not there are left out. */
export async function deleteCheckpoints(
  database: CatalogDatabase,
  modelId: string,
  steps: readonly number[],
): Promise<CheckpointRecord[]> {
  const possible = steps.filter((step) => step >= 0 && step <= highestStep)
  const rows = await database
    .updateTable("checkpoints")
    .set({ deleted_at: new Date() })
    .where("model_id", "=", modelId)
    .where(sql<boolean>`step = any(${possible}::integer[])`)
    .where("deleted_at", "is", null)
    .returningAll()
    .execute()
  return rows.map(toRecord)
}

/** Those of `paths` that are a deleted checkpoint's folder. */
export async function deletedPaths(database: CatalogDatabase, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const rows = await database
    .selectFrom("checkpoints")
    .select("path")
    .where("deleted_at", "is not", null)
    .where("path", "in", listOf(paths))
    .execute()
  return rows.flatMap(({ path }) => path ?? [])
}

/**
 * Adds metrics to the newest checkpoint and returns its step; a key that is there already takes the
 * new value. Runs in the caller's transaction. null: there is no checkpoint.
 */
export async function mergeLatestMetrics(
  transaction: CatalogDatabase,
  modelId: string,
  metrics: Record<string, number>,
): Promise<number | null> {
  const latest = await transaction
    .selectFrom("checkpoints")
    .select(["id", "step", "metrics"])
    .where("model_id", "=", modelId)
    .where("deleted_at", "is", null)
    .orderBy("step", "desc")
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
  if (latest === undefined) return null
  await transaction
    .updateTable("checkpoints")
    .set({ metrics: JSON.stringify({ ...latest.metrics, ...metrics }) })
    .where("id", "=", latest.id)
    .execute()
  return latest.step
}

/** Values of one metric over the live checkpoints that have it, by step. */
export async function metricHistory(
  database: CatalogDatabase,
  modelId: string,
  metric: string,
): Promise<{ step: number; value: number }[]> {
  const rows = await database
    .selectFrom("checkpoints")
    .select(["step", "metrics"])
    .where("model_id", "=", modelId)
    .where("deleted_at", "is", null)
    .orderBy("step")
    .execute()
  return rows.flatMap(({ step, metrics }) => {
    const value = metrics[metric]
    return value === undefined ? [] : [{ step, value }]
  })
}

function liveCheckpoints(database: CatalogDatabase, modelId: string) {
  return database.selectFrom("checkpoints").selectAll().where("model_id", "=", modelId).where("deleted_at", "is", null)
}

interface CheckpointRow {
  id: string
  step: number
  metrics: Record<string, number>
  path: string | null
  size_bytes: number
  created_at: Date
}

function toRecord(row: CheckpointRow): CheckpointRecord {
  const { id, step, metrics, path } = row
  return { id, step, metrics, path, sizeBytes: row.size_bytes, createdAt: row.created_at }
}
