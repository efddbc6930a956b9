import { type Kysely, sql } from "kysely"

/**
 * A cancelled job keeps its lease until its server has stopped the work: an index to find the leases of a model and of a
 * server. Checkpoints of which only the adapter is left: the optimizer's state was removed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create index training_jobs_leases on training_jobs (model_id) where lease_owner is not null`,
  `alter table checkpoints add column optimizer_removed_at timestamptz`,
]
