import { type Kysely, sql } from "kysely"

/**
 * Deleted projects keep their row until all that was stored under its id is removed. Whoever reads `projects` sees only
 * live ones, so that no query can forget to ask.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table projects rename to all_projects`,
  `alter table all_projects add column deleted_at timestamptz`,
  `alter table all_projects drop constraint projects_entity_id_name_key`,
  `create unique index projects_live_name on all_projects (entity_id, name) where deleted_at is null`,
  `create index projects_deleted on all_projects (deleted_at) where deleted_at is not null`,
  `create view projects as select id, entity_id, name, created_at from all_projects where deleted_at is null`,
  // Deleting an item looks up its final labels one by one.
  `create index annotation_final_labels_item on annotation_final_labels (item_id)`,
]
