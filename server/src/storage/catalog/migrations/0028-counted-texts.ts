import { type Kysely, sql } from "kysely"

/** Quotas count every text that a client wrote of a run or an artifact, and a link that was deleted has no metadata. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const textsOfRun = "config summary display_name notes description group_name job_type job_program job_repo commit host"

const sizeOfRun = [...textsOfRun.split(" "), "tags::text"]
  .map((text) => `coalesce(octet_length(${text}), 0)`)
  .join(" + ")

const statements = [
  `update runs set size_bytes = ${sizeOfRun}`,
  // Of one that is not committed nothing is counted yet.
  `update artifacts set stored_bytes = stored_bytes + coalesce(octet_length(description), 0) + octet_length(tags::text)
    where state = 'committed'`,
  `update dataset_sources set link_metadata = null where deleted_at is not null and link_metadata is not null`,
]
