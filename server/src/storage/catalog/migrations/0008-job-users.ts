import { type Kysely, sql } from "kysely"

/** Adds the user of a job, and an index on when jobs ended: the queue is fair by what teams and users ran lately. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table training_jobs add column user_id uuid references users (id)`,
  `create index training_jobs_ended on training_jobs (ended_at) where started_at is not null`,
]
