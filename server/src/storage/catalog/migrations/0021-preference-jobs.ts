import { type Kysely, sql } from "kysely"

/** Jobs of a third kind, which learn from pairs of answers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table training_jobs drop constraint training_jobs_kind_check`,
  `alter table training_jobs add constraint training_jobs_kind_check check (kind in ('rl', 'sft', 'dpo'))`,
]
