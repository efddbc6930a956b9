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

/** A content that came for an artifact. */
export interface SentContent extends ArtifactContent {
  artifact_id: string
  project_id: string
}

/** `unasked`: no file of the artifact has it, so it is not kept. `known`: the project has one of this digest, which stays. */
export type KeptAs = "added" | "known" | "unasked"

/**
 * {@link addContent} for many, and only where the artifact has a file of this content, or asked to store one. In order.
 * The limit keeps the planner from reading all entries, as it would while their table was not analyzed.
 */
export async function addSentContents(database: CatalogDatabase, sent: readonly SentContent[]): Promise<KeptAs[]> {
  const given = sent.map((content, place) => ({ ...content, place }))
  const { rows } = await sql<{ place: number; sha256: string | null }>`
    with given as (select * from json_to_recordset(${JSON.stringify(given)}::json)
        as g(place int, artifact_id uuid, project_id uuid, digest text, sha256 text, size_bytes bigint)),
      asked as (select given.* from given cross join lateral (select from artifact_entries e
        where e.project_id = given.project_id and e.digest = given.digest and e.artifact_id = given.artifact_id
          and e.ref is null limit 1) as entry),
      added as (insert into artifact_contents (project_id, digest, sha256, size_bytes)
        select distinct on (project_id, digest) project_id, digest, sha256, size_bytes from asked
        order by project_id, digest, place
        on conflict do nothing returning project_id, digest, sha256)
    select asked.place, added.sha256 from asked left join added using (project_id, digest)`.execute(database)
  const asked = new Map(rows.map(({ place, sha256 }) => [place, sha256]))
  const added = new Set<string>()
  return sent.map(({ project_id, digest, sha256, size_bytes }, place) => {
    if (!asked.has(place)) return "unasked"
    if (asked.get(place) !== sha256) return "known"
    // The same content may have come twice.
    const key = `${project_id}/${digest}`
    if (!added.has(key)) usageOf(database)?.ofProject(project_id, size_bytes)
    added.add(key)
    return "added"
  })
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

/** Finds contents for digests that the project lacks: those of the artifacts `births`, which all belong to these entities. */
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
