/**
 * Whether an embedded trace store may begin. A start without the address of its ClickHouse server would make an empty one,
 * show no calls, and store what comes apart from all others.
 */
import { existsSync } from "node:fs"
import path from "node:path"
import { isUnused } from "../catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../catalog/open-catalog.ts"
import { secretFileOf } from "../server-secret.ts"
import { embeddedTraces } from "./move.ts"

/** @throws {Error} with a sentence for the operator when the data folder was in use and has no trace store. */
export async function requireKnownTraces(
  dataDir: string,
  clickhouseUrl: string | null,
  opened: Promise<CatalogDatabase>,
): Promise<void> {
  const folder = path.join(dataDir, embeddedTraces.folder)
  if (clickhouseUrl !== null || existsSync(folder) || !existsSync(secretFileOf(dataDir))) return
  if (await isUnused(await opened)) return
  throw new Error(
    `the data folder ${dataDir} was in use, and has no folder traces. If they are in a ClickHouse server, set ` +
      "HEDDLE_CLICKHOUSE_URL; if not, put a backup in the folder's place. To go on without the calls that were stored, make " +
      `an empty folder ${folder}`,
  )
}
