import { type Kysely, sql } from "kysely"

/** Limits of each team, and the bytes that it uses. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Written by each server at its start, from its limits.
  `create table quota_defaults (name text primary key, value bigint not null)`,
  `create table team_quotas (
    entity_id uuid not null references entities (id),
    name text not null,
    value bigint not null,
    primary key (entity_id, name)
  )`,
  `create table team_usage (
    entity_id uuid primary key references entities (id),
    stored_bytes bigint not null,
    measured_at timestamptz
  )`,
  `create function team_quota(entity_ uuid, name_ text) returns bigint language sql stable as $$
    select coalesce(
      (select value from team_quotas where entity_id = entity_ and name = name_),
      (select value from quota_defaults where name = name_))
  $$`,
  `alter table training_jobs add column data_bytes bigint not null default 0`,
  `create index api_keys_user on api_keys (user_id) where revoked_at is null`,
]
