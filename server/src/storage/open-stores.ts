/** Opens every store of a data folder at once, or none of them. */
import path from "node:path"
import { BlobStore } from "./blobs/blob-store.ts"
import { type CatalogDatabase, type CatalogLocation, openCatalog, pingCatalog } from "./catalog/open-catalog.ts"
import { isAboutFolder, unusable } from "./data-folder.ts"
import { lockDataFolder } from "./data-lock.ts"
import type { ReachabilityLog } from "./reachability.ts"
import { storesCheck } from "./stores-check.ts"
import { openTraces } from "./traces/open-traces.ts"
import type { TraceStore } from "./traces/store/trace-store.ts"

export interface Stores {
  dataDir: string
  catalog: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkReached: () => Promise<void>
  close: () => Promise<void>
}

export interface StoresLocation {
  dataDir: string
  catalog: Omit<CatalogLocation, "folder" | "log">
  /** null: embedded, in the data folder. */
  clickhouseUrl: string | null
  /** Hears when a store on another machine goes away and comes back. */
  log: ReachabilityLog
}

/** @throws {Error} with a sentence for the operator; what had been opened is closed again. */
export async function openStores({ dataDir, catalog, clickhouseUrl, log }: StoresLocation): Promise<Stores> {
  const lock = await lockDataFolder(dataDir)
  const opening = [
    openCatalog({ ...catalog, folder: path.join(dataDir, "catalog"), log }),
    openTraces({ clickhouseUrl, folder: path.join(dataDir, "traces"), log }),
    BlobStore.open(dataDir),
  ] as const
  try {
    const [database, traces, blobs] = await Promise.all(opening)
    const close = async () => {
      await Promise.all([database.destroy(), traces.close()])
      await lock.release()
    }
    const checkReached = storesCheck([
      ...(catalog.postgresUrl === null ? [] : [() => pingCatalog(database)]),
      ...(clickhouseUrl === null ? [] : [() => traces.ping()]),
    ])
    return { dataDir, catalog: database, traces, blobs, checkReached, close }
  } catch (error) {
    const [database, traces] = await Promise.allSettled(opening)
    if (database.status === "fulfilled") await database.value.destroy()
    if (traces.status === "fulfilled") await traces.value.close()
    await lock.release()
    throw isAboutFolder(dataDir, error) ? unusable(dataDir, error) : error
  }
}
