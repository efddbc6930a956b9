import { type Kysely, sql } from "kysely"

/** Turns of rollouts with their tokens, and the rollouts' rewards. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table rollouts (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity,
    project_id uuid not null references all_projects (id),
    rollout_id text not null,
    group_id text,
    reward double precision,
    rewarded_at timestamptz,
    size_bytes bigint not null default 0,
    created_at timestamptz not null default now(),
    last_turn_at timestamptz not null,
    expires_at timestamptz not null,
    deleted_at timestamptz,
    deleted_turns integer
  )`,
  // A deleted rollout stays as a row, so that a repeated DELETE says the same; its id may be used again.
  `create unique index rollouts_name on rollouts (rollout_id, project_id) where deleted_at is null`,
  `create index rollouts_deleted on rollouts (rollout_id, project_id) where deleted_at is not null`,
  `create index rollouts_project on rollouts (project_id, sequence)`,
  `create index rollouts_group on rollouts (project_id, group_id, sequence) where group_id is not null`,
  `create index rollouts_expiry on rollouts (expires_at) where size_bytes > 0`,
  `create table rollout_turns (
    rollout uuid not null references rollouts (id),
    id text not null,
    sequence bigint generated always as identity,
    protocol text not null,
    model text not null,
    model_id uuid,
    step integer,
    base_model text not null,
    group_id text,
    trace_id text,
    span_id text,
    call_id text,
    user_id uuid not null references users (id),
    started_at timestamptz not null,
    ended_at timestamptz not null,
    is_finished boolean not null,
    extends text,
    runs json not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    size_bytes bigint not null,
    content bytea,
    primary key (rollout, id)
  )`,
  `create index rollout_turns_order on rollout_turns (rollout, sequence)`,
  `create index rollout_turns_model on rollout_turns (model_id, rollout) where model_id is not null`,
  `create index rollout_turns_trace on rollout_turns (trace_id) where trace_id is not null`,
  `create index rollout_turns_call on rollout_turns (call_id) where call_id is not null`,
  `create table rollout_rewards (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity,
    rollout uuid not null references rollouts (id),
    key text,
    reward double precision not null,
    metrics json not null,
    reason text,
    user_id uuid not null references users (id),
    created_at timestamptz not null default now()
  )`,
  `create index rollout_rewards_order on rollout_rewards (rollout, sequence)`,
  `create unique index rollout_rewards_key on rollout_rewards (rollout, key) where key is not null`,
]
