import { type Kysely, sql } from "kysely"

/** Records what a kill may leave: calls that the server itself was recording, and blobs that no row came to name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table open_calls (
    project_id uuid not null references projects (id),
    call_id text not null,
    primary key (project_id, call_id)
  )`,
  `create index trajectory_logs_data on trajectory_logs (data_sha256)`,
]
