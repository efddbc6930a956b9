/**
 * The data folder that a catalog belongs to, told by its secret. Blobs, checkpoints and embedded traces lie in the folder:
 * beside another one the catalog's rows would name what is not there, and two servers would each see half of everything.
 */
import { sql } from "kysely"
import type { CatalogDatabase } from "./open-catalog.ts"

/** Takes the catalog for the data folder with this mark unless another has it. false: another has it. */
export async function settleCatalog(database: CatalogDatabase, mark: string): Promise<boolean> {
  await sql`insert into catalog_home (data_folder) values (${mark}) on conflict do nothing`.execute(database)
  const { rows } = await sql<{ data_folder: string }>`select data_folder from catalog_home`.execute(database)
  return rows[0]?.data_folder === mark
}

/** Takes the catalog for the data folder with this mark, whichever it belonged to. */
export async function takeCatalog(database: CatalogDatabase, mark: string): Promise<void> {
  await sql`
    insert into catalog_home (data_folder) values (${mark})
    on conflict (singleton) do update set data_folder = excluded.data_folder, since = now()`.execute(database)
}
