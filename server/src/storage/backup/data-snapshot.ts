/**
 * A copy of the data folder of a running server, as of one moment: the one at which the parts of the trace store are frozen,
 * while no row is being inserted. No statement runs in the catalog from before it until its files are copied. What was
 * acknowledged before the copy was begun is in it, and of what came meanwhile all stores have the same.
 *
 * Whoever removes a file asks or changes the catalog first. So each file that is needed at the moment is there as long as the
 * catalog is held, and is linked by then (`tree-copy.ts`).
 */
import { mkdir, realpath } from "node:fs/promises"
import path from "node:path"
import { HeddleError } from "../../errors.ts"
import { outsideOfRequests } from "../../work/work-scope.ts"
import { cutCatalogLog, whileCatalogIsStill } from "../catalog/catalog-stillness.ts"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import { entriesTaken } from "../data-folder.ts"
import { freeBytes } from "../file-system/disk-space.ts"
import type { FolderTraceStore } from "../traces/store/trace-store.ts"
import { bytesOf } from "./settle.ts"
import { copying, linking } from "./tree-copy.ts"

export interface EmbeddedStores {
  dataDir: string
  catalog: CatalogDatabase
  traces: FolderTraceStore
}

/** How long work waited for a snapshot, in milliseconds. */
export interface HeldFor {
  catalogMs: number
  insertsMs: number
}

/**
 * Makes the copy `target`, a new folder in the data folder.
 * @throws {HeddleError} `insufficient_storage`; what is in `target` then is of no use.
 */
export async function snapshotData(
  { dataDir, catalog, traces }: EmbeddedStores,
  target: string,
  signal: AbortSignal,
): Promise<HeldFor> {
  await requireRoom(dataDir)
  await mkdir(target, { mode: 0o700 })
  const tree = { source: dataDir, target, signal }
  const passes = [
    copying({ ...tree, names: ["catalog", ...entriesTaken("copied")] }),
    linking({ ...tree, names: entriesTaken("linked") }),
    linking({ ...tree, names: entriesTaken("linked by content") }, { isNamedByContent: true }),
  ]
  const takeAll = async () => {
    for (const pass of passes) await pass()
  }
  const held = { catalogMs: 0, insertsMs: 0 }
  await outsideOfRequests(async () => {
    // What the catalog has in memory only would otherwise be written, and so copied, while it is held.
    await cutCatalogLog(catalog)
    await takeAll()
    await traces.snapshot(path.join(target, "traces"), (freeze) =>
      // The catalog first: whoever has its session may wait for an insert, and no insert waits for the catalog.
      timed(held, "catalogMs", () =>
        whileCatalogIsStill(catalog, async () => {
          await timed(held, "insertsMs", freeze)
          // Inserts go on: the catalog, and so what its rows name, is as it was when the parts were frozen.
          await takeAll()
        }),
      ),
    )
  })
  return held
}

async function timed(held: HeldFor, name: keyof HeldFor, work: () => Promise<void>): Promise<void> {
  const from = performance.now()
  await work()
  held[name] = Math.round(performance.now() - from)
}

/** Files that are copied take as much room again; links take none. */
async function requireRoom(dataDir: string): Promise<void> {
  const copied = ["catalog", ...entriesTaken("copied")]
  const sizes = await Promise.all(copied.map((name) => bytesOf(path.join(dataDir, name))))
  await requireBytes(
    await realpath(dataDir),
    sizes.reduce((sum, size) => sum + size, 0),
  )
}

/** @throws {HeddleError} `insufficient_storage` when the disk of `folder` has not so much room. */
export async function requireBytes(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder)
  if (free >= bytes) return
  const message = `a backup needs ${mebibytes(bytes)} of room on the disk of ${folder}, which has ${mebibytes(free)} left`
  throw new HeddleError("insufficient_storage", message)
}

const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`
