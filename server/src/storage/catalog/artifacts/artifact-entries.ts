/** Entries of committed artifacts, path by path. */
import { sql } from "kysely"
import { isLive } from "./live-artifacts.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"

export interface EntryRecord {
  path: string
  digest: string
  size_bytes: number
  ref: string | null
  extra: string | null
}

export interface EntrySelection {
  /** null: of any path. */
  paths: readonly string[] | null
  /** Those whose content is stored here. */
  filesOnly: boolean
  /** Strictly after this path; null begins with the first. */
  after: string | null
  limit: number
}

/** The entries of an artifact by path, in the order of code points. */
export async function listEntries(
  database: CatalogDatabase,
  artifactId: string,
  { paths, filesOnly, after, limit }: EntrySelection,
): Promise<EntryRecord[]> {
  if (paths?.length === 0) return []
  let rows = database
    .selectFrom("artifact_entries")
    .select(["path", "digest", "size_bytes", "ref", "extra"])
    .where("artifact_id", "=", artifactId)
  if (paths !== null) rows = rows.where("path", "in", listOf(paths))
  if (filesOnly) rows = rows.where("ref", "is", null)
  if (after !== null) rows = rows.where("path", ">", after)
  return rows.orderBy("path").limit(limit).execute()
}

export interface StoredFile {
  sha256: string
  size_bytes: number
}

/** A file that a live artifact has, by its digest. */
export async function findStoredFile(
  database: CatalogDatabase,
  artifactId: string,
  digest: string,
): Promise<StoredFile | null> {
  if (!isUuid(artifactId)) return null
  const { rows } = await sql<StoredFile>`
    select c.sha256, c.size_bytes from artifacts
    join projects p on p.id = artifacts.project_id
    join artifact_contents c on c.project_id = artifacts.project_id and c.digest = ${digest}
    where artifacts.id = ${artifactId} and ${isLive}
      and exists (select 1 from artifact_entries e
        where e.artifact_id = artifacts.id and e.digest = ${digest} and e.ref is null)`.execute(database)
  return rows[0] ?? null
}

/** The file at this path. */
export async function findFileAt(
  database: CatalogDatabase,
  artifactId: string,
  path: string,
): Promise<StoredFile | null> {
  const { rows } = await sql<StoredFile>`
    select c.sha256, c.size_bytes from artifact_entries e
    join artifact_contents c on c.project_id = e.project_id and c.digest = e.digest
    where e.artifact_id = ${artifactId} and e.path = ${path} and e.ref is null`.execute(database)
  return rows[0] ?? null
}
