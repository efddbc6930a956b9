/**
 * Whether the catalog may be the one that knows the files and calls of the data folder. What a catalog does not name is seen by
 * nobody, and files are removed a day later. So one that knows nothing, as a start without the address of its server has, or
 * on a backup that was copied in part, would cost everything.
 */
import path from "node:path"
import { isUnused } from "../catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import { namesIn } from "../file-system/names-in.ts"
import { EmbeddedTraces } from "../traces/store/embedded-traces.ts"
import type { TraceStore } from "../traces/store/trace-store.ts"

/** @throws {Error} with a sentence for the operator when the catalog is new and the folder has files, calls or their like. */
export async function requireKnownFiles(
  dataDir: string,
  postgresUrl: string | null,
  { catalog, traces }: { catalog: CatalogDatabase; traces: TraceStore },
): Promise<void> {
  if (!(await isUnused(catalog))) return
  const files = await hasFiles(dataDir)
  if (!files && !(await hasRows(traces))) return
  const [what, end] = files
    ? ["files", "all of them would be removed"]
    : ["calls or their like", "nobody would see them"]
  const [which, server] =
    postgresUrl === null
      ? ["the catalog in it", "If it is in a PostgreSQL server, set HEDDLE_POSTGRES_URL; if not, put"]
      : [
          "the database of HEDDLE_POSTGRES_URL",
          "Name the database that knows them, load its dump into this one, or put",
        ]
  throw new Error(
    `the data folder ${dataDir} has ${what}, and ${which} is empty, so ${end}. ` +
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

/** Whether the store in the folder has rows that somebody wrote. */
async function hasRows(traces: TraceStore): Promise<boolean> {
  if (!(traces instanceof EmbeddedTraces)) return false
  const written = "database = currentDatabase() and name not in ('trace_schema', 'trace_step_claims')"
  const [found] = await traces.rows<{ has_rows: number }>(
    `select sum(total_rows) > 0 as has_rows from system.tables where ${written}`,
  )
  return found?.has_rows === 1
}
