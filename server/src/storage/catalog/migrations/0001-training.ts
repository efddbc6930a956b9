import { type Kysely, sql } from "kysely"

/** Accounts, projects, trainable models, checkpoints, jobs with their events, uploads, completion usage. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table entities (
    id uuid primary key default gen_random_uuid(),
    name text not null unique,
    created_at timestamptz not null default now()
  )`,
  `create table users (
    id uuid primary key default gen_random_uuid(),
    username text not null unique,
    default_entity_id uuid not null references entities (id),
    is_admin boolean not null,
    created_at timestamptz not null default now()
  )`,
  `create table memberships (
    user_id uuid not null references users (id),
    entity_id uuid not null references entities (id),
    primary key (user_id, entity_id)
  )`,
  `create table api_keys (
    id uuid primary key default gen_random_uuid(),
    user_id uuid not null references users (id),
    name text not null,
    sha256 text not null unique,
    hint text not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create table projects (
    id uuid primary key default gen_random_uuid(),
    entity_id uuid not null references entities (id),
    name text not null,
    created_at timestamptz not null default now(),
    unique (entity_id, name)
  )`,
  `create table models (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references projects (id),
    name text not null,
    base_model text not null,
    base_path text,
    run_id text not null,
    last_step integer not null default 0,
    created_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create unique index models_live_name on models (project_id, name) where deleted_at is null`,
  `create table checkpoints (
    id uuid primary key default gen_random_uuid(),
    model_id uuid not null references models (id),
    step integer not null,
    metrics json not null,
    path text,
    size_bytes bigint not null,
    manifest_sha256 text,
    job_id uuid,
    created_at timestamptz not null default now(),
    deleted_at timestamptz,
    unique (model_id, step)
  )`,
  `create table training_jobs (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity unique,
    model_id uuid not null references models (id),
    kind text not null check (kind in ('rl', 'sft')),
    status text not null default 'queued'
      check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    config json not null,
    requested_config json not null,
    data_path text not null,
    data_sha256 text not null,
    attempts integer not null default 0,
    lease_owner text,
    lease_expires_at timestamptz,
    output_step integer,
    error_message text,
    warnings json not null,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz
  )`,
  `create index training_jobs_open on training_jobs (sequence) where status in ('queued', 'running')`,
  `create index training_jobs_model on training_jobs (model_id, sequence)`,
  `create index training_jobs_data on training_jobs (data_sha256)`,
  `create table training_job_events (
    id uuid primary key default gen_random_uuid(),
    job_id uuid not null references training_jobs (id),
    sequence integer not null,
    type text not null,
    data json not null,
    created_at timestamptz not null default now(),
    unique (job_id, sequence)
  )`,
  `create unique index training_job_events_terminal on training_job_events (job_id)
    where type in ('training_ended', 'training_failed')`,
  // No foreign keys: they took 60 % of the time of storing a row, and its ids come from the request's own principal.
  `create table completion_usage (
    id uuid primary key default gen_random_uuid(),
    request_id text not null,
    created_at timestamptz not null default now(),
    api_key_id uuid not null,
    user_id uuid not null,
    project_id uuid not null,
    model text not null,
    model_id uuid,
    step integer,
    base_model text not null,
    input_tokens integer not null,
    input_cached_tokens integer not null,
    output_tokens integer not null
  )`,
  `create index completion_usage_time on completion_usage (project_id, created_at)`,
  `create table uploads (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity unique,
    entity_id uuid not null references entities (id),
    filename text not null,
    sha256 text not null,
    size_bytes bigint not null,
    purpose text not null,
    created_at timestamptz not null default now()
  )`,
  `create index uploads_sha256 on uploads (sha256)`,
  `create table trajectory_logs (
    id uuid primary key default gen_random_uuid(),
    model_id uuid not null references models (id),
    step integer not null,
    split text not null,
    data_sha256 text not null,
    size_bytes bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index trajectory_logs_model on trajectory_logs (model_id, step)`,
]
