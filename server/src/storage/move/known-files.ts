/**
 * Whether the catalog may be the one that knows the files of the data folder. What a catalog does not name is removed a day
 * later, so one that knows nothing, as a start without the address of its server has, would cost every file.
 */
import path from "node:path"
import { isUnused } from "../catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import { namesIn } from "../names-in.ts"

/** @throws {Error} with a sentence for the operator when the catalog is new and the folder has files. */
export async function requireKnownFiles(
  dataDir: string,
  postgresUrl: string | null,
  catalog: CatalogDatabase,
): Promise<void> {
  if (!(await isUnused(catalog)) || !(await hasFiles(dataDir))) return
  const [which, server] =
    postgresUrl === null
      ? ["the catalog in it", "If it is in a PostgreSQL server, set HEDDLE_POSTGRES_URL; if not, put"]
      : [
          "the database of HEDDLE_POSTGRES_URL",
          "Name the database that knows them, load its dump into this one, or put",
        ]
  throw new Error(
    `the data folder ${dataDir} has files, and ${which} is empty, so all of them would be removed. ` +
      `${server} a backup in the folder's place. To begin with nothing, choose a new folder with --data-dir`,
  )
}

async function hasFiles(dataDir: string): Promise<boolean> {
  for (const folder of [path.join("blobs", "sha256"), "checkpoints"]) {
    for (const name of await namesIn(path.join(dataDir, folder))) {
      if ((await namesIn(path.join(dataDir, folder, name))).length > 0) return true
    }
  }
  return false
}
