/** Whether the stores are where the settings say: a start with others than before would seem to have lost everything. */
import { existsSync } from "node:fs"
import path from "node:path"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import type { TraceStore } from "../traces/store/trace-store.ts"
import { embeddedCatalog, type EmbeddedStore, embeddedTraces, leftFolder, type MoveSettings } from "./move.ts"
import { filledCatalogTables } from "./move-catalog.ts"
import { filledTraceTables, isUnfinished } from "./move-traces.ts"

type Addresses = Pick<MoveSettings, "dataDir" | "postgresUrl" | "clickhouseUrl">

/** @throws {Error} with a sentence for the operator when an embedded store would be begun anew though it has moved. */
export function requireNotMoved({ dataDir, postgresUrl, clickhouseUrl }: Addresses): void {
  if (postgresUrl === null) requireHere(dataDir, embeddedCatalog)
  if (clickhouseUrl === null) requireHere(dataDir, embeddedTraces)
}

function requireHere(dataDir: string, store: EmbeddedStore): void {
  const { folder, server, setting } = store
  if (existsSync(path.join(dataDir, folder)) || !existsSync(path.join(dataDir, leftFolder(store)))) return
  throw new Error(
    `the ${folder} of the data folder ${dataDir} moved into a ${server} server: set ${setting}. ` +
      `To go back to what was there before, rename ${leftFolder(store)} to ${folder}`,
  )
}

/**
 * @throws {Error} with a sentence for the operator when a server holds nothing, or a part, and the data folder holds such
 * a store.
 */
export async function requireMoved(
  { dataDir, postgresUrl, clickhouseUrl }: Addresses,
  { catalog, traces }: { catalog: CatalogDatabase; traces: TraceStore },
): Promise<void> {
  if (postgresUrl !== null) await requireThere(dataDir, embeddedCatalog, () => filledCatalogTables(catalog))
  if (clickhouseUrl === null) return
  if (await isUnfinished(traces)) {
    throw new Error(
      "HEDDLE_CLICKHOUSE_URL names a database into which a move was cut off, so that it has only a part of the traces: run " +
        '"npm run move-stores" again with the same settings, which begins anew',
    )
  }
  await requireThere(dataDir, embeddedTraces, () => filledTraceTables(traces))
}

async function requireThere(
  dataDir: string,
  { folder, server, setting }: EmbeddedStore,
  filled: () => Promise<string[]>,
): Promise<void> {
  if (!existsSync(path.join(dataDir, folder)) || (await filled()).length > 0) return
  throw new Error(
    `${setting} names a ${server} database that is empty, and the data folder ${dataDir} has a folder ${folder} with what was ` +
      'stored until now. Move it with "npm run move-stores"; to begin with nothing, take that folder away',
  )
}
