import { type Kysely, sql } from "kysely"

/** Objects of the evaluation store with their versions, tags and aliases; files by content. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create sequence object_publications`,
  `create table object_versions (
    project_id uuid not null references projects (id),
    object_id text collate "C" not null,
    digest text not null,
    kind text not null,
    version_index integer not null,
    is_latest boolean not null,
    base_object_class text,
    leaf_object_class text,
    val text not null,
    size_bytes integer not null,
    wb_user_id text not null,
    published bigint not null default nextval('object_publications'),
    created_at timestamptz not null default now(),
    deleted_at timestamptz,
    primary key (project_id, object_id, digest)
  )`,
  `create unique index object_versions_index on object_versions (project_id, kind, object_id, version_index)`,
  `create unique index object_versions_latest on object_versions (project_id, kind, object_id) where is_latest`,
  `create index object_versions_published on object_versions (project_id, published) where deleted_at is null`,
  `create table object_tags (
    project_id uuid not null,
    object_id text collate "C" not null,
    digest text not null,
    tag text collate "C" not null,
    primary key (project_id, object_id, digest, tag),
    foreign key (project_id, object_id, digest) references object_versions
  )`,
  `create index object_tags_tag on object_tags (project_id, tag)`,
  `create table object_aliases (
    project_id uuid not null,
    object_id text collate "C" not null,
    alias text collate "C" not null,
    digest text not null,
    primary key (project_id, object_id, alias),
    foreign key (project_id, object_id, digest) references object_versions
  )`,
  `create index object_aliases_alias on object_aliases (project_id, alias)`,
  `create table project_files (
    project_id uuid not null references projects (id),
    digest text not null,
    sha256 text not null,
    size_bytes bigint not null,
    created_at timestamptz not null default now(),
    primary key (project_id, digest)
  )`,
  `create index project_files_sha256 on project_files (sha256)`,
]
