import { type Kysely, sql } from "kysely"

/** Artifacts of the wandb client: what they hold, by which names they are found, and which runs made and used them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table artifact_collections (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references all_projects (id),
    kind text not null,
    type text not null,
    name text not null,
    description text,
    tags text[] not null default '{}',
    next_version integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (project_id, name)
  )`,
  `create table artifacts (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references all_projects (id),
    collection_id uuid not null references artifact_collections (id) on delete cascade,
    state text not null default 'pending',
    version integer,
    digest text not null,
    description text,
    metadata text,
    aliases text[] not null default '{}',
    tags text[] not null default '{}',
    ttl_seconds bigint,
    ttl_is_inherited boolean not null default true,
    history_step bigint,
    run_id uuid references runs (id) on delete set null,
    user_id uuid references users (id),
    distributed_id text,
    checkpoint_id uuid unique references checkpoints (id) on delete set null,
    size_bytes bigint not null default 0,
    file_count integer not null default 0,
    stored_bytes bigint not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index artifacts_digest on artifacts (collection_id, digest)`,
  `create index artifacts_project on artifacts (project_id)`,
  `create index artifacts_run on artifacts (run_id)`,
  `create index artifacts_pending on artifacts (created_at) where state = 'pending'`,
  `create index artifacts_ttl on artifacts (created_at) where ttl_seconds is not null`,
  `create table artifact_clients (
    client_id text not null,
    artifact_id uuid not null references artifacts (id) on delete cascade,
    primary key (client_id, artifact_id)
  )`,
  `create index artifact_clients_artifact on artifact_clients (artifact_id)`,
  `create table artifact_manifests (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity,
    artifact_id uuid not null references artifacts (id) on delete cascade,
    type text not null,
    base_id uuid,
    digest text not null default '',
    sha256 text,
    size_bytes bigint not null default 0
  )`,
  `create index artifact_manifests_artifact on artifact_manifests (artifact_id)`,
  `create index artifact_manifests_sha256 on artifact_manifests (sha256)`,
  // Files that the client of an uncommitted artifact asked to store.
  `create table artifact_entries (
    artifact_id uuid not null references artifacts (id) on delete cascade,
    path text collate "C" not null,
    project_id uuid not null,
    digest text not null,
    size_bytes bigint not null,
    ref text,
    extra text,
    primary key (artifact_id, path)
  )`,
  `create index artifact_entries_digest on artifact_entries (project_id, digest)`,
  // A checkpoint's file counts for the quota there.
  `create table artifact_contents (
    project_id uuid not null references all_projects (id),
    digest text not null,
    sha256 text not null,
    size_bytes bigint not null,
    is_of_checkpoint boolean not null default false,
    created_at timestamptz not null default now(),
    primary key (project_id, digest)
  )`,
  `create index artifact_contents_sha256 on artifact_contents (sha256)`,
  `create table artifact_uploads (
    id uuid primary key default gen_random_uuid(),
    artifact_id uuid not null references artifacts (id) on delete cascade,
    digest text not null,
    unique (artifact_id, digest)
  )`,
  `create table artifact_parts (
    upload_id uuid not null references artifact_uploads (id) on delete cascade,
    number integer not null,
    md5 text not null,
    sha256 text,
    size_bytes bigint not null default 0,
    primary key (upload_id, number)
  )`,
  `create index artifact_parts_sha256 on artifact_parts (sha256)`,
  `create table artifact_memberships (
    id uuid primary key default gen_random_uuid(),
    collection_id uuid not null references artifact_collections (id) on delete cascade,
    artifact_id uuid not null references artifacts (id) on delete cascade,
    version integer not null,
    created_at timestamptz not null default now(),
    unique (collection_id, version),
    unique (artifact_id, collection_id)
  )`,
  `create table artifact_aliases (
    id uuid primary key default gen_random_uuid(),
    collection_id uuid not null references artifact_collections (id) on delete cascade,
    alias text not null,
    artifact_id uuid not null references artifacts (id) on delete cascade,
    unique (collection_id, alias)
  )`,
  `create index artifact_aliases_artifact on artifact_aliases (artifact_id)`,
  `create table artifact_runs (
    artifact_id uuid not null references artifacts (id) on delete cascade,
    run_id uuid not null references runs (id) on delete cascade,
    kind text not null,
    created_at timestamptz not null default now(),
    primary key (artifact_id, run_id, kind)
  )`,
  `create index artifact_runs_run on artifact_runs (run_id, kind)`,
]
