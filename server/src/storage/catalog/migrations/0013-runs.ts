import { type Kysely, sql } from "kysely"

/** Runs of the wandb client and their files. What runs log line by line is in the trace store. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `config` and `summary` are JSON as the client wrote it, with bare NaN; `config_values` and `summary_values` are for filters.
  `create table runs (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references projects (id),
    name text not null,
    user_id uuid not null references users (id),
    display_name text not null,
    config text not null default '{}',
    config_values jsonb not null default '{}',
    summary text not null default '{}',
    summary_values jsonb not null default '{}',
    notes text,
    description text,
    tags text[] not null default '{}',
    group_name text,
    job_type text,
    job_program text,
    job_repo text,
    commit text,
    host text,
    state text not null default 'running',
    exit_code integer,
    stop_requested boolean not null default false,
    console_base bigint not null default 0,
    console_shift bigint,
    events_base bigint not null default 0,
    events_shift bigint,
    size_bytes bigint not null default 0,
    created_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now(),
    unique (project_id, name)
  )`,
  `create index runs_project on runs (project_id, created_at, id)`,
  `create table run_files (
    id uuid primary key default gen_random_uuid(),
    run_id uuid not null references runs (id) on delete cascade,
    name text not null,
    sha256 text not null,
    md5 text not null,
    size_bytes bigint not null,
    mimetype text not null,
    updated_at timestamptz not null default now(),
    unique (run_id, name)
  )`,
  `create index run_files_sha256 on run_files (sha256)`,
]
