import { type Kysely, sql } from "kysely"

/**
 * Roles in teams and projects, scopes of keys, accounts of programs, invitations. Whoever is a member stays one and may do
 * what members could; of the own entity everybody is the administrator.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const memberRoles = `('admin', 'member', 'viewer', 'annotator')`

const statements = [
  `alter table memberships add column role text not null default 'member'
    check (role in ('admin', 'member', 'viewer', 'annotator', 'service_account'))`,
  `update memberships m set role = 'admin' from users u where u.id = m.user_id and u.default_entity_id = m.entity_id`,
  `alter table memberships alter column role drop default`,
  `create table project_roles (
    project_id uuid not null references all_projects (id) on delete cascade,
    user_id uuid not null references users (id),
    role text not null check (role in ${memberRoles}),
    primary key (user_id, project_id)
  )`,
  `create index project_roles_project on project_roles (project_id)`,
  `alter table users add column is_service_account boolean not null default false`,
  `alter table api_keys add column scope text not null default 'all' check (scope in ('all', 'ingest', 'read', 'label'))`,
  `create table invitations (
    id uuid primary key default gen_random_uuid(),
    sha256 text not null unique,
    entity_id uuid not null references entities (id),
    role text not null check (role in ${memberRoles}),
    invited_by uuid not null references users (id),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revoked_at timestamptz
  )`,
  `create index invitations_entity on invitations (entity_id, created_at)`,
]
