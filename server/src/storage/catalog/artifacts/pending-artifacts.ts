/** How long artifacts stay that are not committed: platform-wandb 9.2. */
import { type RawBuilder, sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

/**
 * SQL: nobody has worked on the artifact since `before`, nor, where several processes make it together, has a run of them: the
 * one that began it, or one of its group. The group's name is what the client takes as its `distributedID`, unless it is told another.
 */
export function isAbandoned(before: Date): RawBuilder<boolean> {
  const isAtWork = sql<boolean>`r.heartbeat_at >= ${before}`
  return sql<boolean>`(artifacts.state = 'pending' and artifacts.created_at < ${before} and artifacts.updated_at < ${before}
    and (artifacts.distributed_id is null or not (
      exists (select 1 from runs r where r.id = artifacts.run_id and ${isAtWork})
      or exists (select 1 from runs r
        where r.project_id = artifacts.project_id and r.group_name = artifacts.distributed_id and ${isAtWork}))))`
}

const minuteMs = 60_000

/**
 * Notes that somebody works on these artifacts, which are not committed. To the minute: thousands of files come one by one. One
 * that a transaction changes at this moment is left to that.
 */
export async function noteWork(
  database: CatalogDatabase,
  artifacts: readonly { id: string; updated_at: Date }[],
): Promise<void> {
  const idle = artifacts.filter(({ updated_at }) => updated_at.getTime() < Date.now() - minuteMs).map(({ id }) => id)
  if (idle.length === 0) return
  await sql`update artifacts set updated_at = now() where id in (
    select id from artifacts where id = any(${idle}::uuid[]) and state = 'pending'
    for no key update skip locked)`.execute(database)
}
