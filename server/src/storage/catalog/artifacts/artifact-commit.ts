/** From what a client sent to a version that readers see, all or nothing: platform-wandb 9.1, 9.2. */
import { type Transaction, sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { usageOf } from "../../team-usage.ts"
import { addMember, setAliases } from "./artifact-aliases.ts"
import { type ArtifactContent, dropContents } from "./artifact-contents.ts"
import { linkRun } from "./artifact-create.ts"
import { inProjectTurn } from "./artifact-lock.ts"
import { type ArtifactRecord, findAnyArtifact, textBytesOfArtifact } from "./artifacts.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export interface CommittedArtifact {
  artifact: ArtifactRecord
  /** SHA-256 of what is not needed any more. */
  dropped: string[]
}

export interface Commit {
  artifact: { id: string; project_id: string }
  /** JSON lists of entries, laid over each other in this order. */
  entries: readonly string[]
  /** The version over which they are laid; null: none. */
  baseId: string | null
  /** True: the digest of the entries must be the one that the client sent. False: any digest is right. */
  isWhole: boolean
  /** Contents of other projects that the entries name: they become this project's too. */
  foreign: readonly ArtifactContent[]
  /** Makes the version a checkpoint, in the transaction that commits it; absent: it is none. */
  adopt?: (transaction: Transaction<Catalog>) => Promise<void>
}

/** @throws {HeddleError} `invalid_request`: what was sent is not what was announced. Then nothing is changed. */
export async function commitArtifact(database: CatalogDatabase, commit: Commit): Promise<CommittedArtifact> {
  const { id, project_id } = commit.artifact
  const counted = { bytes: 0 }
  const committed = await inProjectTurn(database, project_id, async (transaction) => {
    const pending = await transaction
      .selectFrom("artifacts")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst()
    if (pending === undefined) throw new HeddleError("not_found", "the artifact was deleted before it was committed")
    let dropped: { sha256: string; size_bytes: number }[] = []
    if (pending.state === "pending") {
      const claimed = await takeClaims(transaction, id)
      await writeEntries(transaction, commit)
      counted.bytes += await addForeign(transaction, project_id, commit.foreign)
      const digest = await checkedDigest(transaction, id, commit.isWhole ? pending.digest : null)
      await checkContents(transaction, id)
      const member = { collection_id: pending.collection_id, artifact_id: id }
      const version = await addMember(transaction, member)
      const size = await sizesOf(transaction, id)
      await transaction
        .updateTable("artifacts")
        .set({ state: "committed", version, digest, aliases: [], ...size, updated_at: sql<Date>`now()` })
        .where("id", "=", id)
        .execute()
      counted.bytes += size.stored_bytes
      await setAliases(transaction, member, [...pending.aliases, "latest"])
      if (pending.run_id !== null) await linkRun(transaction, id, pending.run_id, "output")
      dropped = [...(await dropContents(transaction, project_id, claimed)), ...(await dropSent(transaction, id))]
      await commit.adopt?.(transaction)
    }
    const artifact = await findAnyArtifact(transaction, id)
    if (artifact === null) throw new HeddleError("not_found", "the project of the artifact was deleted")
    return { artifact, dropped }
  })
  const freed = committed.dropped.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  usageOf(database)?.ofProject(project_id, counted.bytes - freed)
  return { artifact: committed.artifact, dropped: committed.dropped.map(({ sha256 }) => sha256) }
}

/** The announced uploads are no longer needed: the manifest says what the artifact holds. */
async function takeClaims(transaction: Transaction<Catalog>, id: string): Promise<string[]> {
  const claims = await transaction
    .deleteFrom("artifact_entries")
    .where("artifact_id", "=", id)
    .returning("digest")
    .execute()
  return [...new Set(claims.map(({ digest }) => digest))]
}

async function writeEntries(
  transaction: Transaction<Catalog>,
  { artifact: { id, project_id }, entries, baseId }: Commit,
): Promise<void> {
  if (baseId !== null) {
    await sql`insert into artifact_entries (artifact_id, path, project_id, digest, size_bytes, ref, extra)
      select ${id}::uuid, path, project_id, digest, size_bytes, ref, extra from artifact_entries
      where artifact_id = ${baseId} and project_id = ${project_id}`.execute(transaction)
  }
  for (const list of entries) {
    await sql`insert into artifact_entries (artifact_id, path, project_id, digest, size_bytes, ref, extra)
      select ${id}::uuid, e.path, ${project_id}::uuid, e.digest, e.size_bytes, e.ref, e.extra
      from json_to_recordset(${list}::json)
        as e(path text, digest text, size_bytes bigint, ref text, extra text)
      on conflict (artifact_id, path) do update set digest = excluded.digest, size_bytes = excluded.size_bytes,
        ref = excluded.ref, extra = excluded.extra`.execute(transaction)
  }
}

/** Bytes that were added. */
async function addForeign(
  transaction: Transaction<Catalog>,
  projectId: string,
  foreign: readonly ArtifactContent[],
): Promise<number> {
  if (foreign.length === 0) return 0
  const { rows } = await sql<{ size_bytes: number }>`
    insert into artifact_contents (project_id, digest, sha256, size_bytes)
    select ${projectId}::uuid, c.digest, c.sha256, c.size_bytes
    from json_to_recordset(${JSON.stringify(foreign)}::json) as c(digest text, sha256 text, size_bytes bigint)
    on conflict do nothing returning size_bytes`.execute(transaction)
  return rows.reduce((sum, row) => sum + row.size_bytes, 0)
}

/** The digest of an artifact as the client computes it: platform-wandb 9.1. @throws {HeddleError} if the client announced another. */
async function checkedDigest(transaction: Transaction<Catalog>, id: string, announced: string | null): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select md5('wandb-artifact-manifest-v1' || chr(10) ||
      coalesce(string_agg(path || ':' || digest || chr(10), '' order by path), '')) as digest
    from artifact_entries where artifact_id = ${id}`.execute(transaction)
  const digest = rows[0]?.digest ?? ""
  if (announced === null || digest === announced) return digest
  throw new HeddleError(
    "invalid_request",
    `the manifest gives the digest ${digest}, and the artifact was created with ${announced}; log the artifact again`,
  )
}

async function checkContents(transaction: Transaction<Catalog>, id: string): Promise<void> {
  const { rows } = await sql<{ path: string; announced: number; stored: number | null }>`
    select e.path, e.size_bytes as announced, c.size_bytes as stored from artifact_entries e
    left join artifact_contents c on c.project_id = e.project_id and c.digest = e.digest
    where e.artifact_id = ${id} and e.ref is null and (c.size_bytes is null or c.size_bytes <> e.size_bytes)
    order by e.path limit 1`.execute(transaction)
  const [fault] = rows
  if (fault === undefined) return
  const { path, announced, stored } = fault
  const message =
    stored === null
      ? `the file "${path}" of the manifest was never stored here`
      : `the manifest says that "${path}" has ${announced} bytes, and what was stored has ${stored}`
  throw new HeddleError("invalid_request", `${message}; log the artifact again`)
}

interface ArtifactSizes {
  size_bytes: number
  file_count: number
  stored_bytes: number
}

async function sizesOf(transaction: Transaction<Catalog>, id: string): Promise<ArtifactSizes> {
  const { rows } = await sql<ArtifactSizes>`
    select coalesce(sum(e.size_bytes), 0)::bigint as size_bytes, count(e.path)::int as file_count,
      (coalesce(sum(octet_length(e.path) + octet_length(coalesce(e.ref, '')) + octet_length(coalesce(e.extra, ''))), 0)
        + ${textBytesOfArtifact})::bigint as stored_bytes
    from artifacts left join artifact_entries e on e.artifact_id = artifacts.id
    where artifacts.id = ${id} group by artifacts.id`.execute(transaction)
  return rows[0] ?? { size_bytes: 0, file_count: 0, stored_bytes: 0 }
}

/** Drops the manifests as they were sent, and the parts of files: the entries hold what was in them. */
async function dropSent(
  transaction: Transaction<Catalog>,
  id: string,
): Promise<{ sha256: string; size_bytes: number }[]> {
  const { rows } = await sql<{ sha256: string; size_bytes: number }>`
    with manifests as (delete from artifact_manifests where artifact_id = ${id} returning sha256, size_bytes),
    parts as (delete from artifact_parts where upload_id in (select u.id from artifact_uploads u where u.artifact_id = ${id})
      returning sha256, size_bytes)
    select sha256, size_bytes from manifests where sha256 is not null
    union all select sha256, size_bytes from parts where sha256 is not null`.execute(transaction)
  return rows
}
