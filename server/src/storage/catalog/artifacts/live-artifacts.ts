/** Which versions of artifacts there are for readers: platform-wandb 9. */
import { sql } from "kysely"

/**
 * 1,000 years; a longer life counts as so long. PostgreSQL has no time behind the year 294276, and a statement that meets one
 * fails, whatever else it reads.
 */
const longestLifeSeconds = 1_000 * 366 * 24 * 60 * 60

/** SQL: when an artifact with a time to live ends. */
export const artifactEnd = sql<Date>`artifacts.created_at
  + least(artifacts.ttl_seconds, ${sql.lit(longestLifeSeconds)}) * interval '1 second'`

/** Artifacts that readers see: committed, not expired, of no project and no checkpoint that was deleted. */
export const isLive = sql<boolean>`artifacts.state = 'committed' and (artifacts.ttl_seconds is null
  or ${artifactEnd} > now())
  and (artifacts.checkpoint_id is null or exists (select 1 from checkpoints live
    where live.id = artifacts.checkpoint_id and live.deleted_at is null))
  and exists (select 1 from projects own where own.id = artifacts.project_id)`
