import type { Transaction } from "kysely"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { Catalog } from "./schema.ts"

/** Runs `work` in the caller's transaction where it has one, else in one of its own. */
export async function inTransaction<T>(
  database: CatalogDatabase,
  work: (transaction: Transaction<Catalog>) => Promise<T>,
): Promise<T> {
  if (database.isTransaction) return work(database as Transaction<Catalog>)
  return database.transaction().execute(work)
}
