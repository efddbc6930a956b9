/** Looks into the stores of a data folder on which no server runs. */
import { defaultLimits } from "../../src/limits.ts"
import { openStores, type Stores } from "../../src/storage/open-stores.ts"

export interface StoreAddresses {
  /** null: embedded, in the data folder. */
  postgresUrl: string | null
  clickhouseUrl: string | null
}

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Opens the stores; returns what `read` finds in them. */
export async function inClosedStores<T>(
  dataDir: string,
  { postgresUrl, clickhouseUrl }: StoreAddresses,
  read: (stores: Stores) => Promise<T>,
): Promise<T> {
  const catalog = { postgresUrl, template: null }
  const stores = await openStores({ dataDir, catalog, clickhouseUrl, log, limits: defaultLimits })
  try {
    return await read(stores)
  } finally {
    await stores.close()
  }
}
