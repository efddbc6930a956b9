import { type Kysely, sql } from "kysely"

/** Keys of the scope `train`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table api_keys drop constraint api_keys_scope_check`,
  `alter table api_keys add constraint api_keys_scope_check check (scope in ('all', 'ingest', 'read', 'label', 'train'))`,
]
