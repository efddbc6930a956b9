import { type Kysely, sql } from "kysely"

/** Jobs that are paused, for how long they were, and when each was last taken: what a job takes is measured without its pauses. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table training_jobs drop constraint training_jobs_status_check`,
  `alter table training_jobs add constraint training_jobs_status_check
    check (status in ('queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'))`,
  `alter table training_jobs
    add column claimed_at timestamptz,
    add column paused_at timestamptz,
    add column paused_seconds double precision not null default 0`,
  `drop index training_jobs_open`,
  `create index training_jobs_open on training_jobs (sequence) where status in ('queued', 'running', 'paused')`,
]
