import { type Kysely, sql } from "kysely"

/** Users that are disabled, keys that end, and the record of what was changed by whom. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table users add column disabled_at timestamptz`,
  `alter table api_keys add column expires_at timestamptz, add column last_used_at timestamptz`,
  // No foreign keys: an entry outlives what it tells of.
  `create table audit_logs (
    id uuid primary key default gen_random_uuid(),
    sequence bigint generated always as identity unique,
    created_at timestamptz not null default now(),
    type text not null,
    outcome text not null check (outcome in ('begun', 'succeeded', 'failed')),
    actor_user_id uuid,
    actor_username text,
    actor_api_key_id uuid,
    request_id text,
    team text,
    resource_id text not null,
    details json not null
  )`,
  `create index audit_logs_time on audit_logs (created_at)`,
  // Entries are only added. The one exception is the end of their retention, which says so in its transaction.
  `create function audit_logs_stay() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and current_setting('heddle.audit_retention', true) = 'on' then return old; end if;
    raise exception 'entries of audit_logs are not changed';
  end $$`,
  `create trigger audit_logs_stay before update or delete on audit_logs
    for each row execute function audit_logs_stay()`,
]
