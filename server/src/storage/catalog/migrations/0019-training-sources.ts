import { type Kysely, sql } from "kysely"

/** Sources of jobs that the server put together from calls, labels and scores. Their rows are in the trace store. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `project_id` is the source's project, which may be deleted before the job's own.
  `create table training_sources (
    job_id uuid primary key references training_jobs (id) on delete cascade,
    id uuid not null unique,
    project_id uuid not null,
    request json not null,
    summary json not null
  )`,
]
