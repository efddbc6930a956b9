/**
 * What changes the artifacts of a project takes turns: version numbers have no gap, and no content is taken away while an
 * entry that names it is written.
 */
import { type Transaction, sql } from "kysely"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export function inProjectTurn<T>(
  database: CatalogDatabase,
  projectId: string,
  work: (transaction: Transaction<Catalog>) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`artifacts/${projectId}`}, 0))`.execute(transaction)
    return work(transaction)
  })
}
