import { type Kysely, sql } from "kysely"

/** Answers of `/v1/responses` that requests may go on from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `input` is a JSON list of all items that were before the answer, those of earlier answers too: each row stands by itself.
  `create table stored_responses (
    id text primary key,
    project_id uuid not null references all_projects (id),
    input text not null,
    answer text not null,
    size_bytes bigint not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
  )`,
  `create index stored_responses_project on stored_responses (project_id, created_at desc)`,
  `create index stored_responses_expiry on stored_responses (expires_at)`,
]
