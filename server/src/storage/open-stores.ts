/** Opens every store of a data folder at once, or none of them. */
import path from "node:path"
import { BlobStore } from "./blobs/blob-store.ts"
import { type CatalogDatabase, type CatalogLocation, openCatalog } from "./catalog/open-catalog.ts"
import { lockDataFolder } from "./data-lock.ts"
import { openTraces } from "./traces/open-traces.ts"
import type { TraceStore } from "./traces/store/trace-store.ts"

export interface Stores {
  dataDir: string
  catalog: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
  close: () => Promise<void>
}

export interface StoresLocation {
  dataDir: string
  catalog: Omit<CatalogLocation, "folder">
  /** null: embedded, in the data folder. */
  clickhouseUrl: string | null
}

/** @throws {Error} with a sentence for the operator; what had been opened is closed again. */
export async function openStores({ dataDir, catalog, clickhouseUrl }: StoresLocation): Promise<Stores> {
  const lock = await lockDataFolder(dataDir)
  const opening = [
    openCatalog({ ...catalog, folder: path.join(dataDir, "catalog") }),
    openTraces({ clickhouseUrl, folder: path.join(dataDir, "traces") }),
    BlobStore.open(dataDir),
  ] as const
  try {
    const [database, traces, blobs] = await Promise.all(opening)
    const close = async () => {
      await Promise.all([database.destroy(), traces.close()])
      await lock.release()
    }
    return { dataDir, catalog: database, traces, blobs, close }
  } catch (error) {
    const [database, traces] = await Promise.allSettled(opening)
    if (database.status === "fulfilled") await database.value.destroy()
    if (traces.status === "fulfilled") await traces.value.close()
    await lock.release()
    throw error
  }
}
