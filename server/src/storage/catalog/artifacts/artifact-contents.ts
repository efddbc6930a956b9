/** Contents of artifacts' files: which a project has, which are asked for, and which nobody needs any more. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { inProjectTurn } from "./artifact-lock.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"

export interface ArtifactContent {
  /** Base64 MD5. */
  digest: string
  sha256: string
  size_bytes: number
}

/** A file that the client of a pending artifact wants to store. */
export interface FileRequest {
  path: string
  digest: string
}

/** Notes that the pending artifact needs these files; returns the digests of those that the project has already. */
export async function claimFiles(
  database: CatalogDatabase,
  artifact: { id: string; project_id: string },
  files: readonly FileRequest[],
): Promise<Set<string>> {
  return inProjectTurn(database, artifact.project_id, async (transaction) => {
    await sql`insert into artifact_entries (artifact_id, path, project_id, digest, size_bytes)
      select distinct on (e.path) ${artifact.id}::uuid, e.path, ${artifact.project_id}::uuid, e.digest, 0
      from json_to_recordset(${JSON.stringify(files)}::json) as e(path text, digest text)
      on conflict (artifact_id, path) do update set digest = excluded.digest`.execute(transaction)
    const rows = await transaction
      .selectFrom("artifact_contents")
      .select("digest")
      .where("project_id", "=", artifact.project_id)
      .where("digest", "in", listOf([...new Set(files.map(({ digest }) => digest))]))
      .execute()
    return new Set(rows.map(({ digest }) => digest))
  })
}

/** false: the project had the content already. */
export async function addContent(
  database: CatalogDatabase,
  projectId: string,
  content: ArtifactContent,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("artifact_contents")
    .values({ project_id: projectId, ...content })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  const isNew = Number(numInsertedOrUpdatedRows) > 0
  if (isNew) usageOf(database)?.ofProject(projectId, content.size_bytes)
  return isNew
}

export async function findContent(
  database: CatalogDatabase,
  projectId: string,
  digest: string,
): Promise<ArtifactContent | null> {
  const row = await database
    .selectFrom("artifact_contents")
    .select(["digest", "sha256", "size_bytes"])
    .where("project_id", "=", projectId)
    .where("digest", "=", digest)
    .executeTakeFirst()
  return row ?? null
}

/** Whether the artifact has a file of this content, or asked to store one. */
export async function hasFile(database: CatalogDatabase, artifactId: string, digest: string): Promise<boolean> {
  const row = await database
    .selectFrom("artifact_entries")
    .select("path")
    .where("artifact_id", "=", artifactId)
    .where("digest", "=", digest)
    .where("ref", "is", null)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes away those of the contents that no entry names; returns their SHA-256, and what they counted. */
export async function dropContents(
  transaction: CatalogDatabase,
  projectId: string,
  digests: readonly string[],
): Promise<{ sha256: string; size_bytes: number }[]> {
  if (digests.length === 0) return []
  const rows = transaction
    .deleteFrom("artifact_contents")
    .where("project_id", "=", projectId)
    .where("digest", "in", listOf(digests))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("artifact_entries")
            .select("artifact_entries.path")
            .whereRef("artifact_entries.project_id", "=", "artifact_contents.project_id")
            .whereRef("artifact_entries.digest", "=", "artifact_contents.digest")
            .where("artifact_entries.ref", "is", null),
        ),
      ),
    )
  const counted = sql<number>`case when is_of_checkpoint then 0 else size_bytes end`.as("size_bytes")
  return rows.returning(["sha256", counted]).execute()
}

/** For digests that the project lacks: the contents that the artifacts `births`, all of these entities, have. */
export async function contentsOfBirths(
  database: CatalogDatabase,
  { projectId, entityIds, births }: { projectId: string; entityIds: readonly string[]; births: readonly Birth[] },
): Promise<ArtifactContent[]> {
  if (births.length === 0 || entityIds.length === 0) return []
  const { rows } = await sql<ArtifactContent>`
    select distinct on (c.digest) c.digest, c.sha256, c.size_bytes
    from json_to_recordset(${JSON.stringify(births)}::json) as b(digest text, artifact_id uuid)
    join artifacts a on a.id = b.artifact_id and a.state = 'committed'
    join projects p on p.id = a.project_id and p.entity_id = any(${[...entityIds]}::uuid[])
    join artifact_entries e on e.artifact_id = a.id and e.digest = b.digest and e.ref is null
    join artifact_contents c on c.project_id = a.project_id and c.digest = b.digest
    where not exists (select 1 from artifact_contents own
      where own.project_id = ${projectId} and own.digest = b.digest)`.execute(database)
  return rows
}

/** The artifact from which a manifest says that a file comes. */
export interface Birth {
  digest: string
  artifact_id: string
}
