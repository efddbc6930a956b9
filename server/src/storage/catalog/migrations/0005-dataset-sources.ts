import { type Kysely, sql } from "kysely"

/** Which calls, spans and conversations the rows of datasets came from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table dataset_sources (
    project_id uuid not null references projects (id),
    id uuid not null,
    dataset_object_id text collate "C" not null,
    row_digest text collate "C" not null,
    source_kind text collate "C" not null,
    source_id text collate "C" not null,
    source_trace_id text collate "C" not null,
    source_display_name text not null,
    source_started_at text not null,
    link_metadata text,
    added_by text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz,
    primary key (project_id, id)
  )`,
  `create index dataset_sources_row on dataset_sources (project_id, dataset_object_id, row_digest)`,
  `create index dataset_sources_source on dataset_sources (project_id, source_id)`,
]
