/** Files of the evaluation store: which content a project has (evaluation-store-calls 7). */
import { sql } from "kysely"
import type { CatalogDatabase } from "./open-catalog.ts"

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
  await database
    .insertInto("project_files")
    .values({ project_id: projectId, digest, sha256, size_bytes: sizeBytes })
    .onConflict((on) => on.doNothing())
    .execute()
}

export async function findProjectFile(
  database: CatalogDatabase,
  projectId: string,
  digest: string,
): Promise<ProjectFile | null> {
  const row = await database
    .selectFrom("project_files")
    .select(["digest", "sha256", "size_bytes as sizeBytes"])
    .where("project_id", "=", projectId)
    .where("digest", "=", digest)
    .executeTakeFirst()
  return row ?? null
}

export async function projectFileBytes(database: CatalogDatabase, projectId: string): Promise<number> {
  const { bytes } = await database
    .selectFrom("project_files")
    .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as("bytes"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow()
  return bytes
}
