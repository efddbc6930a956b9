/** Files of runs; their content lies in the blob store. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { idListOf, listOf } from "../text-lists.ts"

export interface RunFileRecord {
  id: string
  name: string
  sha256: string
  /** Base64. */
  md5: string
  size_bytes: number
  mimetype: string
  updated_at: Date
}

const columns = ["id", "name", "sha256", "md5", "size_bytes", "mimetype", "updated_at"] as const

export interface FileOwner {
  /** Id of the run. */
  id: string
  project_id: string
}

/** Takes the place of the file of this name; returns the SHA-256 of what was there, null: nothing. */
export async function putRunFile(
  database: CatalogDatabase,
  run: FileOwner,
  file: Omit<RunFileRecord, "id" | "updated_at">,
): Promise<string | null> {
  const before = await inTransaction(database, async (transaction) => {
    const replaced = await transaction
      .selectFrom("run_files")
      .select(["sha256", "size_bytes"])
      .where("run_id", "=", run.id)
      .where("name", "=", file.name)
      .forUpdate()
      .executeTakeFirst()
    const { name, ...content } = file
    await transaction
      .insertInto("run_files")
      .values({ run_id: run.id, name, ...content })
      .onConflict((on) => on.columns(["run_id", "name"]).doUpdateSet({ ...content, updated_at: new Date() }))
      .execute()
    return replaced
  })
  usageOf(database)?.ofProject(run.project_id, file.size_bytes - (before?.size_bytes ?? 0))
  return before?.sha256 ?? null
}

export interface RunFileSelection {
  /** null: of any name. */
  names: readonly string[] | null
  /** Pattern for SQL's LIKE, or null for any name. */
  pattern: string | null
  /** Strictly after this name; null begins with the first. */
  after: string | null
  limit: number
}

/** The files of a run, by name. */
export async function listRunFiles(
  database: CatalogDatabase,
  runId: string,
  { names, pattern, after, limit }: RunFileSelection,
): Promise<RunFileRecord[]> {
  let rows = database.selectFrom("run_files").select(columns).where("run_id", "=", runId)
  if (names !== null) {
    if (names.length === 0) return []
    rows = rows.where("name", "in", listOf(names))
  }
  if (pattern !== null) rows = rows.where("name", "like", pattern)
  if (after !== null) rows = rows.where(sql<boolean>`name collate "C" > ${after}`)
  return rows
    .orderBy(sql`name collate "C"`)
    .limit(limit)
    .execute()
}

export async function countRunFiles(database: CatalogDatabase, runId: string): Promise<number> {
  const { count } = await database
    .selectFrom("run_files")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("run_id", "=", runId)
    .executeTakeFirstOrThrow()
  return count
}

export async function findRunFile(
  database: CatalogDatabase,
  runId: string,
  name: string,
): Promise<RunFileRecord | null> {
  const row = await database
    .selectFrom("run_files")
    .select(columns)
    .where("run_id", "=", runId)
    .where("name", "=", name)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Those of the files that are of these entities' runs, all or none; returns the SHA-256 of their contents, null: one is not
 * there. `check` throws for a project of whose runs the caller may delete nothing.
 */
export async function deleteRunFiles(
  database: CatalogDatabase,
  entityIds: readonly string[],
  ids: readonly string[],
  check: (project: { project_id: string; entity: string; project: string }) => void,
): Promise<string[] | null> {
  const different = [...new Set(ids)]
  if (different.length === 0) return []
  if (!different.every(isUuid) || entityIds.length === 0) return null
  const gone = await inTransaction(database, async (transaction) => {
    const files = await transaction
      .selectFrom("run_files")
      .innerJoin("runs", "runs.id", "run_files.run_id")
      .innerJoin("projects", "projects.id", "runs.project_id")
      .innerJoin("entities", "entities.id", "projects.entity_id")
      .select(["run_files.sha256", "run_files.size_bytes", "runs.project_id"])
      .select(["entities.name as entity", "projects.name as project"])
      .where("run_files.id", "in", idListOf(different))
      .where("projects.entity_id", "in", entityIds)
      // Another request that deletes them waits, and then finds none.
      .forUpdate("run_files")
      .execute()
    if (files.length < different.length) return null
    for (const file of files) check(file)
    await transaction.deleteFrom("run_files").where("id", "in", idListOf(different)).execute()
    return files
  })
  for (const { project_id, size_bytes } of gone ?? []) usageOf(database)?.ofProject(project_id, -size_bytes)
  return gone?.map(({ sha256 }) => sha256) ?? null
}
