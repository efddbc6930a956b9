import { type Kysely, sql } from "kysely"

/**
 * Annotation queues: their items, who works on which item, what was done, and final labels. What is done with them is in
 * `labelling/annotation-functions.ts`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
}

const tables = [
  `create table annotation_queues (
    id uuid primary key,
    project_id uuid not null references projects (id),
    name text not null,
    description text not null,
    scorer_refs text not null,
    required_annotators integer,
    lease_seconds integer not null,
    last_place bigint not null default 0,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create index annotation_queues_project on annotation_queues (project_id, created_at, id) where deleted_at is null`,
  `create table annotation_items (
    id uuid primary key,
    queue_id uuid not null references annotation_queues (id),
    place bigint not null,
    free_places integer not null,
    finished_count integer not null default 0,
    call_id text not null,
    call_started_at timestamptz not null,
    call_ended_at timestamptz,
    call_op_name text collate "C" not null,
    call_trace_id text not null,
    display_fields text not null,
    added_by text not null,
    annotation_state text not null default 'unstarted',
    annotator_user_id text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
  )`,
  `create unique index annotation_items_call on annotation_items (queue_id, call_id) where deleted_at is null`,
  // Not with the id: the planner would look one item up in here, page by page, instead of in the primary key.
  `create index annotation_items_created on annotation_items (queue_id, created_at) where deleted_at is null`,
  `create index annotation_items_free on annotation_items (queue_id, place) where free_places > 0 and deleted_at is null`,
  `create table annotation_progress (
    item_id uuid not null references annotation_items (id),
    user_id text not null,
    state text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (item_id, user_id)
  )`,
  `create table annotation_history (
    sequence bigserial primary key,
    item_id uuid not null references annotation_items (id),
    user_id text not null,
    event text not null,
    state_before text not null,
    state_after text not null,
    created_at timestamptz not null default now()
  )`,
  `create index annotation_history_item on annotation_history (item_id, sequence)`,
  `create table annotation_leases (
    item_id uuid not null references annotation_items (id),
    user_id text not null,
    queue_id uuid not null,
    leased_at timestamptz not null default now(),
    expires_at timestamptz not null,
    primary key (item_id, user_id)
  )`,
  `create index annotation_leases_end on annotation_leases (queue_id, expires_at)`,
  `create index annotation_leases_user on annotation_leases (queue_id, user_id)`,
  `create table annotation_cursors (
    queue_id uuid not null references annotation_queues (id),
    user_id text not null,
    place bigint not null,
    primary key (queue_id, user_id)
  )`,
  `create table annotation_final_labels (
    id uuid primary key,
    item_id uuid not null references annotation_items (id),
    field text collate "C" not null,
    value text not null,
    feedback_id text,
    note text,
    decided_by text not null,
    decided_at timestamptz not null default now(),
    superseded_at timestamptz
  )`,
  `create unique index annotation_final_labels_current on annotation_final_labels (item_id, field)
    where superseded_at is null`,
]
