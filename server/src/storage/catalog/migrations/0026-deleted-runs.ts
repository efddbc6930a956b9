import { type Kysely, sql } from "kysely"

/** Deleted runs of which the trace store may still have rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table deleted_runs (
    id uuid primary key,
    project_id uuid not null references all_projects (id) on delete cascade,
    deleted_at timestamptz not null default now()
  )`,
  `create index deleted_runs_project on deleted_runs (project_id)`,
]
