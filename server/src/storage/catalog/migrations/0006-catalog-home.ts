import { type Kysely, sql } from "kysely"

/** The data folder that holds what the catalog's rows name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table catalog_home (
    singleton boolean primary key default true check (singleton),
    data_folder text not null,
    since timestamptz not null default now()
  )`.execute(db)
}
