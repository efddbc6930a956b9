import { type Kysely, sql } from "kysely"

/** Work that requests leave to the server: scoring of calls, evaluations of models. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table execution_jobs (
    id uuid primary key,
    sequence bigint generated always as identity,
    project_id uuid not null references projects (id),
    user_id uuid not null references users (id),
    api_key_id uuid not null references api_keys (id),
    kind text not null,
    request text not null,
    status text not null default 'queued',
    attempts integer not null default 0,
    lease_owner text,
    lease_expires_at timestamptz,
    total_items integer,
    error_message text,
    created_at timestamptz not null default now(),
    ended_at timestamptz
  )`,
  `create index execution_jobs_open on execution_jobs (sequence) where status in ('queued', 'running')`,
]
