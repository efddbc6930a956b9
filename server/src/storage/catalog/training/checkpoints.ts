/** Checkpoints of a model (training-api 4). Deleted ones stay as tombstones, so that paging past them works. */
import { sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"

/** The column is a 32-bit integer. */
export const highestStep = 2 ** 31 - 1

export interface CheckpointRecord {
  id: string
  step: number
  metrics: Record<string, number>
  path: string | null
  manifestSha256: string | null
  sizeBytes: number
  /** Only the adapter is left: the optimizer's state was removed. */
  isAdapterOnly: boolean
  createdAt: Date
  /** null: the step that a model begins with, or one that came from elsewhere. */
  jobId: string | null
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

/** The checkpoints before the newest `kept` whose optimizer's state was not removed yet. */
export async function checkpointsBefore(
  database: CatalogDatabase,
  modelId: string,
  kept: number,
): Promise<CheckpointRecord[]> {
  const newest = liveCheckpoints(database, modelId).orderBy("step", "desc").limit(kept)
  const rows = await liveCheckpoints(database, modelId)
    .where("path", "is not", null)
    .where("optimizer_removed_at", "is", null)
    .where("id", "not in", database.selectFrom(newest.as("newest")).select("newest.id"))
    .execute()
  return rows.map(toRecord)
}

/** Notes that the optimizer's state of so many bytes is no longer needed. false: that was noted before. */
export async function removeOptimizerState(database: CatalogDatabase, id: string, bytes: number): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("checkpoints")
    .set((eb) => ({ optimizer_removed_at: sql<Date>`now()`, size_bytes: eb("size_bytes", "-", bytes) }))
    .where("id", "=", id)
    .where("optimizer_removed_at", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirst()
  return numUpdatedRows > 0
}

/** Those of `paths` that are the folder of a checkpoint whose optimizer's state was removed. */
export async function adapterOnlyPaths(database: CatalogDatabase, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const rows = await database
    .selectFrom("checkpoints")
    .select("path")
    .where("optimizer_removed_at", "is not", null)
    .where("path", "in", listOf(paths))
    .execute()
  return rows.flatMap(({ path }) => path ?? [])
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
    const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined
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
  manifest_sha256: string | null
  size_bytes: number
  optimizer_removed_at: Date | null
  created_at: Date
  job_id: string | null
}

function toRecord(row: CheckpointRow): CheckpointRecord {
  const { id, step, metrics, path, manifest_sha256: manifestSha256 } = row
  const isAdapterOnly = row.optimizer_removed_at !== null
  const { size_bytes: sizeBytes, created_at: createdAt, job_id: jobId } = row
  return { id, step, metrics, path, manifestSha256, sizeBytes, isAdapterOnly, createdAt, jobId }
}
