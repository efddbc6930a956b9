/** Opens every store of a data folder at once, or none of them. */
import path from "node:path"
import type { Log } from "../log.ts"
import type { Limits } from "../limits.ts"
import type { FairQueue } from "../work/fair-queue.ts"
import { BlobStore } from "./blobs/blob-store.ts"
import { CatalogUpkeep } from "./catalog/catalog-upkeep.ts"
import { type CatalogDatabase, type CatalogLocation, openCatalog, pingCatalog } from "./catalog/open-catalog.ts"
import { isAboutFolder, unusable } from "./data-folder.ts"
import { lockDataFolder } from "./data-lock.ts"
import { diskShortage } from "./file-system/disk-space.ts"
import type { EmbeddedStores } from "./backup/data-snapshot.ts"
import { requireWholeCopy } from "./backup/whole-copy.ts"
import { requireKnownFiles } from "./move/known-files.ts"
import { requireKnownTraces } from "./move/known-traces.ts"
import { requireMoved, requireNotMoved } from "./move/moved.ts"
import { catalogQueue } from "./store-queues.ts"
import { storesCheck } from "./stores-check.ts"
import { CallWriter } from "./traces/calls/insert/calls-write.ts"
import { SeenIds } from "./traces/calls/insert/seen-ids.ts"
import { openTraces } from "./traces/open-traces.ts"
import { EmbeddedTraces } from "./traces/store/embedded-traces.ts"
import type { TraceStore } from "./traces/store/trace-store.ts"

export interface Stores {
  dataDir: string
  catalog: CatalogDatabase
  traces: TraceStore
  /** The one for all: its inserts serve every request that waits. */
  callWriter: CallWriter
  blobs: BlobStore
  /** The same stores, where all of them are in the data folder; else null. */
  embedded: EmbeddedStores | null
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkReached: () => Promise<void>
  /** Queues of the work in the catalog and the trace store. */
  queues: readonly FairQueue[]
  /** Why writes are refused or soon will be; null: the disk of the data folder has room. */
  diskShortage: () => Promise<string | null>
  close: () => Promise<void>
}

export interface StoresLocation {
  dataDir: string
  catalog: Omit<CatalogLocation, "folder" | "log" | "queue">
  /** null: embedded, in the data folder. */
  clickhouseUrl: string | null
  /** Hears when a store on another machine goes away and comes back. */
  log: Log
  limits: Limits
}

/** @throws {Error} with a sentence for the operator; what had been opened is closed again. */
export async function openStores(location: StoresLocation): Promise<Stores> {
  const { dataDir, catalog, clickhouseUrl, log, limits } = location
  const addresses = { dataDir, postgresUrl: catalog.postgresUrl, clickhouseUrl }
  requireNotMoved(addresses)
  const lock = await lockDataFolder(dataDir)
  await requireWholeCopy(dataDir).catch(async (error: unknown) => {
    await lock.release()
    throw error
  })
  const queue = catalogQueue(limits, catalog.postgresUrl === null)
  const openingCatalog = openCatalog({ ...catalog, folder: path.join(dataDir, "catalog"), log, queue })
  const opening = [
    openingCatalog,
    requireKnownTraces(dataDir, clickhouseUrl, openingCatalog).then(() =>
      openTraces({ clickhouseUrl, folder: path.join(dataDir, "traces"), log, limits }),
    ),
    BlobStore.open(dataDir),
  ] as const
  try {
    const [database, traces, blobs] = await Promise.all(opening)
    await requireMoved(addresses, { catalog: database, traces })
    await requireKnownFiles(dataDir, catalog.postgresUrl, { catalog: database, traces })
    const upkeep = catalog.postgresUrl === null ? new CatalogUpkeep(database, log) : null
    upkeep?.start()
    const close = async () => {
      await upkeep?.close()
      await Promise.all([database.destroy(), traces.close()])
      await lock.release()
    }
    const checkReached = storesCheck([
      ...(catalog.postgresUrl === null ? [] : [() => pingCatalog(database)]),
      ...(clickhouseUrl === null ? [] : [() => traces.ping()]),
    ])
    const seenIds = new SeenIds(traces, { most: limits.call_ids_in_memory, log })
    const callWriter = new CallWriter(traces, seenIds, limits)
    const isEmbedded = catalog.postgresUrl === null && traces instanceof EmbeddedTraces
    return {
      dataDir,
      catalog: database,
      traces,
      callWriter,
      blobs,
      embedded: isEmbedded ? { dataDir, catalog: database, traces } : null,
      checkReached,
      diskShortage: () => diskShortage(dataDir, limits.disk_free_bytes),
      queues: [queue, ...traces.queues],
      close,
    }
  } catch (error) {
    const [database, traces] = await Promise.allSettled(opening)
    if (database.status === "fulfilled") await database.value.destroy()
    if (traces.status === "fulfilled") await traces.value.close()
    await lock.release()
    throw isAboutFolder(dataDir, error) ? unusable(dataDir, error) : error
  }
}
