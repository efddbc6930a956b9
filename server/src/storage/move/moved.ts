/** Whether the stores are where the settings say: a start with others than before would seem to have lost everything. */
import path from "node:path"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import type { TraceStore } from "../traces/store/trace-store.ts"
import { embeddedCatalog, type EmbeddedStore, embeddedTraces, isThere, leftFolder, type MoveSettings } from "./move.ts"
import { filledTables } from "./move-catalog.ts"
import { filledTables as filledTraceTables } from "./move-traces.ts"

type Addresses = Pick<MoveSettings, "dataDir" | "postgresUrl" | "clickhouseUrl">

/** @throws {Error} with a sentence for the operator when an embedded store would be begun anew though it has moved. */
export async function requireNotMoved({ dataDir, postgresUrl, clickhouseUrl }: Addresses): Promise<void> {
  if (postgresUrl === null) await requireHere(dataDir, embeddedCatalog)
  if (clickhouseUrl === null) await requireHere(dataDir, embeddedTraces)
}

async function requireHere(dataDir: string, store: EmbeddedStore): Promise<void> {
  const { folder, server, setting } = store
  if (await isThere(path.join(dataDir, folder))) return
  if (!(await isThere(path.join(dataDir, leftFolder(store))))) return
  throw new Error(
    `the ${folder} of the data folder ${dataDir} moved into a ${server} server: set ${setting}. ` +
      `To go back to what was there before, rename ${leftFolder(store)} to ${folder}`,
  )
}

/** @throws {Error} with a sentence for the operator when a server holds nothing, and the data folder holds such a store. */
export async function requireMoved(
  { dataDir, postgresUrl, clickhouseUrl }: Addresses,
  { catalog, traces }: { catalog: CatalogDatabase; traces: TraceStore },
): Promise<void> {
  if (postgresUrl !== null) await requireThere(dataDir, embeddedCatalog, () => filledTables(catalog))
  if (clickhouseUrl !== null) await requireThere(dataDir, embeddedTraces, () => filledTraceTables(traces))
}

async function requireThere(
  dataDir: string,
  { folder, server, setting }: EmbeddedStore,
  filled: () => Promise<string[]>,
): Promise<void> {
  if (!(await isThere(path.join(dataDir, folder))) || (await filled()).length > 0) return
  throw new Error(
    `${setting} names a ${server} database that is empty, and the data folder ${dataDir} has a folder ${folder} with what was ` +
      'stored until now. Move it with "npm run move-stores"; to begin with nothing, take that folder away',
  )
}
