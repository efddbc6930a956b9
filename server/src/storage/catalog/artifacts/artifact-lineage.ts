/** Which runs made and used which versions. */
import { isLive } from "./live-artifacts.ts"
import { type ArtifactPage, bytesOfArtifact } from "./artifacts.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface RunName {
  id: string
  name: string
  project_id: string
  project: string
  entity: string
}

function namesOfRuns(database: CatalogDatabase) {
  return database
    .selectFrom("runs")
    .innerJoin("projects", "projects.id", "runs.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["runs.id", "runs.name", "runs.project_id", "projects.name as project", "entities.name as entity"])
}

/** The run that made it first; null: none, or it was deleted. Of these entities. */
export async function makerOf(
  database: CatalogDatabase,
  entityIds: readonly string[],
  runId: string | null,
): Promise<RunName | null> {
  if (runId === null || entityIds.length === 0) return null
  const row = await namesOfRuns(database)
    .where("runs.id", "=", runId)
    .where("entities.id", "in", entityIds)
    .executeTakeFirst()
  return row ?? null
}

const mostUsers = 1000

/** Runs of these entities, in the order in which they began to use it. */
export async function usersOf(
  database: CatalogDatabase,
  entityIds: readonly string[],
  artifactId: string,
): Promise<RunName[]> {
  if (entityIds.length === 0) return []
  return namesOfRuns(database)
    .innerJoin("artifact_runs", "artifact_runs.run_id", "runs.id")
    .where("artifact_runs.artifact_id", "=", artifactId)
    .where("artifact_runs.kind", "=", "input")
    .where("entities.id", "in", entityIds)
    .orderBy("artifact_runs.created_at")
    .limit(mostUsers)
    .execute()
}

function linked(database: CatalogDatabase, entityIds: readonly string[], runId: string, kind: "output" | "input") {
  return database
    .selectFrom("artifact_runs")
    .innerJoin("artifacts", "artifacts.id", "artifact_runs.artifact_id")
    .innerJoin("projects", "projects.id", "artifacts.project_id")
    .where("artifact_runs.run_id", "=", runId)
    .where("artifact_runs.kind", "=", kind)
    .where("projects.entity_id", "in", entityIds)
    .where(isLive)
}

/** Ids of versions, with the bytes of their long texts, in the order in which the run made or used them. */
export async function artifactsOfRun(
  database: CatalogDatabase,
  entityIds: readonly string[],
  { runId, kind }: { runId: string; kind: "output" | "input" },
  { skip, limit }: ArtifactPage,
): Promise<{ id: string; bytes: number }[]> {
  if (entityIds.length === 0) return []
  return linked(database, entityIds, runId, kind)
    .select(["artifacts.id", bytesOfArtifact])
    .orderBy("artifact_runs.created_at")
    .orderBy("artifacts.id")
    .offset(skip)
    .limit(limit)
    .execute()
}

export async function countArtifactsOfRun(
  database: CatalogDatabase,
  entityIds: readonly string[],
  { runId, kind }: { runId: string; kind: "output" | "input" },
): Promise<number> {
  if (entityIds.length === 0) return 0
  const { count } = await linked(database, entityIds, runId, kind)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow()
  return count
}

/** Versions that the run made first, checkpoints of models left out. */
export async function madeByRun(database: CatalogDatabase, runId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("artifacts")
    .select("id")
    .where("run_id", "=", runId)
    .where("checkpoint_id", "is", null)
    .execute()
  return rows.map(({ id }) => id)
}
