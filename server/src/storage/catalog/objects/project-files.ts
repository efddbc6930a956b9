/** Files of the evaluation store: which content a project has (evaluation-store-calls 7). */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"

export interface ProjectFile {
  digest: string
  sha256: string
  sizeBytes: number
}

/** The same content again changes nothing. */
export async function addProjectFile(
  database: CatalogDatabase,
  projectId: string,
  { digest, sha256, sizeBytes }: ProjectFile,
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("project_files")
    .values({ project_id: projectId, digest, sha256, size_bytes: sizeBytes })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  if (Number(numInsertedOrUpdatedRows) > 0) usageOf(database)?.ofProject(projectId, sizeBytes)
}

export async function findProjectFile(
  database: CatalogDatabase,
  projectId: string,
  digest: string,
): Promise<ProjectFile | null> {
  return (await findProjectFiles(database, projectId, [digest])).get(digest) ?? null
}

/** The files of a project, by digest. */
export async function findProjectFiles(
  database: CatalogDatabase,
  projectId: string,
  digests: readonly string[],
): Promise<Map<string, ProjectFile>> {
  if (digests.length === 0) return new Map()
  const rows = await database
    .selectFrom("project_files")
    // A signed address knows the id of a project that may have been deleted since.
    .innerJoin("projects", "projects.id", "project_files.project_id")
    .select(["digest", "sha256", "size_bytes as sizeBytes"])
    .where("project_id", "=", projectId)
    .where("digest", "in", listOf(digests))
    .execute()
  return new Map(rows.map((row) => [row.digest, row]))
}

export async function projectFileBytes(database: CatalogDatabase, projectId: string): Promise<number> {
  const { bytes } = await database
    .selectFrom("project_files")
    .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as("bytes"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow()
  return bytes
}
