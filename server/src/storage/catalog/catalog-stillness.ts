/** The embedded catalog while a backup copies its files. */
import { sql } from "kysely"
import type { CatalogDatabase } from "./open-catalog.ts"

/** Writes all that was committed from memory and the write-ahead log into the files of the tables. */
export async function cutCatalogLog(database: CatalogDatabase): Promise<void> {
  await sql`checkpoint`.execute(database)
}

/** Runs `work` while its files are those of a catalog that was just closed: it has one session, which nobody else has then. */
export function whileCatalogIsStill<T>(database: CatalogDatabase, work: () => Promise<T>): Promise<T> {
  return database.connection().execute(async (session) => {
    await cutCatalogLog(session)
    return work()
  })
}
