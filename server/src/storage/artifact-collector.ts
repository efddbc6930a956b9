/** Removes artifacts past their time, those whose checkpoint was deleted, those that were never committed, and contents that no artifact names. */
import { sql } from "kysely"
import type { Log } from "../log.ts"
import { deleteArtifactsThat } from "./catalog/artifacts/artifact-changes.ts"
import { dropContents } from "./catalog/artifacts/artifact-contents.ts"
import { inProjectTurn } from "./catalog/artifacts/artifact-lock.ts"
import { artifactEnd } from "./catalog/artifacts/live-artifacts.ts"
import { isAbandoned } from "./catalog/artifacts/pending-artifacts.ts"
import { isBlobReferenced } from "./catalog/files/blob-references.ts"
import { DailyWork } from "./daily-work.ts"
import type { Stores } from "./open-stores.ts"
import { usageOf } from "./team-usage.ts"

/** A client that is killed may go on with the same artifact when it starts again, but not after a day without any work on it. */
const keepMs = 24 * 60 * 60 * 1000
const atOnce = 500

export function artifactCollector(stores: Stores, log: Log): DailyWork {
  return new DailyWork(
    async (signal) => {
      const removed = await collectArtifacts(stores, new Date(Date.now() - keepMs), signal)
      if (removed > 0) log.info({ removed }, "artifacts past their time, or never committed, were removed")
    },
    log,
    "artifacts that nobody needs could not be removed",
  )
}

/** Removes artifacts that ended, or are not committed and were last worked on before `before`. Returns how many. */
export async function collectArtifacts(
  { catalog, blobs }: Stores,
  before: Date,
  signal?: AbortSignal,
): Promise<number> {
  const isOver = sql<boolean>`(${isAbandoned(before)}
    or (state = 'committed' and ttl_seconds is not null and ${artifactEnd} <= now())
    or checkpoint_id in (select c.id from checkpoints c where c.deleted_at is not null))`
  const { rows } = await sql<{ project_id: string; ids: string[] }>`
    select project_id, json_agg(id) as ids from artifacts where ${isOver} group by project_id`.execute(catalog)
  let removed = 0
  for (const { project_id, ids } of rows) {
    for (let first = 0; first < ids.length && signal?.aborted !== true; first += atOnce) {
      // Minutes may have passed, in which a client may have committed one.
      const some = ids.slice(first, first + atOnce)
      const { count, dropped } = await deleteArtifactsThat(catalog, project_id, some, isOver)
      await drop({ catalog, blobs }, dropped)
      removed += count
    }
  }
  await collectContents({ catalog, blobs }, before, signal)
  return removed
}

/** Contents whose client went away between storing them and naming them. */
async function collectContents(
  { catalog, blobs }: Pick<Stores, "catalog" | "blobs">,
  before: Date,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await sql<{ project_id: string; digests: string[] }>`
    select c.project_id, json_agg(c.digest) as digests from artifact_contents c
    where c.created_at < ${before} and not exists (select 1 from artifact_entries e
      where e.project_id = c.project_id and e.digest = c.digest and e.ref is null)
    group by c.project_id`.execute(catalog)
  for (const { project_id, digests } of rows) {
    if (signal?.aborted === true) return
    const gone = await inProjectTurn(catalog, project_id, (turn) => dropContents(turn, project_id, digests))
    usageOf(catalog)?.ofProject(project_id, -gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0))
    await drop(
      { catalog, blobs },
      gone.map(({ sha256 }) => sha256),
    )
  }
}

async function drop({ catalog, blobs }: Pick<Stores, "catalog" | "blobs">, contents: readonly string[]): Promise<void> {
  for (const sha256 of new Set(contents)) await blobs.removeUnless(sha256, () => isBlobReferenced(catalog, sha256))
}
