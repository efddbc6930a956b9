import { type Kysely, sql } from "kysely"

/** Sessions of browsers, and the one-time tokens of sign-in links. Both are known only by their SHA-256. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table sessions (
    id uuid primary key default gen_random_uuid(),
    sha256 text not null unique,
    user_id uuid not null references users (id),
    api_key_id uuid not null references api_keys (id),
    user_agent text not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    ended_at timestamptz
  )`,
  `create index sessions_user on sessions (user_id, created_at)`,
  `create table sign_in_tokens (
    sha256 text primary key,
    user_id uuid not null references users (id),
    api_key_id uuid not null references api_keys (id),
    created_at timestamptz not null default now(),
    used_at timestamptz
  )`,
]
