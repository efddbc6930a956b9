import { type Kysely, sql } from "kysely"

/** How long calls of a project are kept, for projects that limit it, and which server removes those past it now. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table call_retention (
    project_id uuid primary key references all_projects (id) on delete cascade,
    retention_days integer not null check (retention_days > 0),
    lease_owner uuid,
    lease_expires_at timestamptz,
    worked_at timestamptz
  )`,
]
