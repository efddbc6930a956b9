import { type Kysely, sql } from "kysely"

/** Alerts that scripts raise about their runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table run_alerts (
    sequence bigint generated always as identity primary key,
    run_id uuid not null references runs (id) on delete cascade,
    project_id uuid not null references all_projects (id),
    title text not null,
    text text not null,
    severity text not null,
    size_bytes bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index run_alerts_run on run_alerts (run_id, sequence)`,
  `create index run_alerts_project on run_alerts (project_id, sequence)`,
]
