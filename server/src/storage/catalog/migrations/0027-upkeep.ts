import { type Kysely, sql } from "kysely"

/** Indexes for what a deletion or a look-up reads, and no rows of what has ended: invitations, sessions, sign-in links. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Catalogs that were made on the first day lack this column, which the first migration has had since.
  `alter table uploads add column if not exists sequence bigint generated always as identity unique`,

  // When a row is deleted, PostgreSQL looks for those that name it.
  `create index annotation_items_queue on annotation_items (queue_id)`,
  `create index annotation_queues_all on annotation_queues (project_id)`,
  `create index execution_jobs_key on execution_jobs (api_key_id)`,
  `create index execution_jobs_project on execution_jobs (project_id)`,
  `create index models_project on models (project_id)`,
  `create index scoring_rules_key on scoring_rules (api_key_id)`,
  `create index sessions_key on sessions (api_key_id)`,
  `create index sign_in_tokens_key on sign_in_tokens (api_key_id)`,

  // Look-ups by a user or a team. Ended keys are looked for too, so the index of keys has them all.
  `drop index api_keys_user`,
  `create index api_keys_user on api_keys (user_id)`,
  `create index memberships_entity on memberships (entity_id)`,
  `create index projects_entity on all_projects (entity_id)`,
  `create index sign_in_tokens_user on sign_in_tokens (user_id, created_at)`,
  `create index uploads_entity on uploads (entity_id, sequence)`,
  `create index users_entity on users (default_entity_id)`,

  // What is removed once a day. Usage is stored in the order of time, so a coarse index finds the oldest and costs a request nothing.
  `create index completion_usage_age on completion_usage using brin (created_at)`,
  `create index execution_jobs_ended on execution_jobs (ended_at) where ended_at is not null`,

  `delete from invitations where accepted_at is not null or revoked_at is not null or expires_at <= now()`,
  `alter table invitations drop column accepted_at, drop column revoked_at`,
  `delete from sessions where ended_at is not null`,
  `alter table sessions drop column ended_at`,
  `delete from sign_in_tokens where used_at is not null`,
  `alter table sign_in_tokens drop column used_at`,
]
