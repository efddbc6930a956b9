import { type Kysely, sql } from "kysely"

/** Rules that score new calls, the calls that wait for them, and how far each server has read the calls that came to it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table scoring_rules (
    id uuid primary key,
    project_id uuid not null references all_projects (id),
    name text not null,
    source text not null,
    rule_ref text not null,
    definition text not null,
    is_active boolean not null,
    stopped_reason text,
    user_id uuid not null references users (id),
    api_key_id uuid not null references api_keys (id),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    seen bigint not null default 0,
    matched bigint not null default 0,
    sampled bigint not null default 0,
    scored bigint not null default 0,
    failed bigint not null default 0,
    over_budget bigint not null default 0,
    overflowed bigint not null default 0,
    waiting bigint not null default 0,
    used_day date not null default (now() at time zone 'UTC')::date,
    used_judge_calls bigint not null default 0,
    used_tokens bigint not null default 0,
    errors text not null default '[]',
    lease_owner text,
    lease_expires_at timestamptz,
    worked_at timestamptz,
    unique (project_id, name)
  )`,
  `create table scoring_items (
    rule_id uuid not null references scoring_rules (id) on delete cascade,
    call_id text not null,
    arrived_at timestamptz not null,
    attempts integer not null default 0,
    due_at timestamptz not null default now(),
    primary key (rule_id, call_id)
  )`,
  `create index scoring_items_due on scoring_items (rule_id, due_at)`,
  `create index scoring_items_arrived on scoring_items (rule_id, arrived_at)`,
  `create table scoring_positions (
    journal uuid primary key,
    position bigint not null,
    updated_at timestamptz not null default now()
  )`,
]
