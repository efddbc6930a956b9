import { createHmac } from "node:crypto"
import { settleCatalog, takeCatalog } from "./catalog/catalog-home.ts"
import type { CatalogDatabase } from "./catalog/open-catalog.ts"
import { loadServerSecret, notTheSecretOf } from "./server-secret.ts"

/** The data folder's secret. @throws {Error} with a sentence for the operator when it and the catalog do not belong together. */
export async function settledSecret(
  database: CatalogDatabase,
  dataDir: string,
  { isEmbedded }: { isEmbedded: boolean },
): Promise<Buffer> {
  const { secret, isNew } = await loadServerSecret(dataDir)
  const mark = createHmac("sha256", secret).update("data folder").digest("hex")
  // The embedded catalog lies in the folder itself: without the file the secret is lost, and with another it was replaced.
  if (isEmbedded && isNew) await takeCatalog(database, mark)
  if (await settleCatalog(database, mark)) return secret
  if (isEmbedded) throw notTheSecretOf(dataDir)
  throw new Error(
    `the catalog in PostgreSQL (HEDDLE_POSTGRES_URL) belongs to another data folder than ${dataDir}, in which the ` +
      "files and traces lie that it names. Start with that folder (--data-dir), or give this one a database of its " +
      "own. If that folder is lost, delete the row of the table catalog_home, and the catalog is this one's",
  )
}
