/** Alerts that scripts raise about their runs: platform-wandb 5.10. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { RunAlertTable } from "./runs-schema.ts"

/** Most alerts of one run; the oldest make room. */
const mostAlerts = 500

export interface NewRunAlert extends Pick<RunAlertTable, "title" | "text" | "severity"> {
  /** For this long after an alert, another one with its title is not kept. */
  waitMs: number
}

export interface RunAlert extends Pick<RunAlertTable, "title" | "text" | "severity"> {
  /** Grows from alert to alert. */
  sequence: number
  /** Name of the run. */
  run: string
  created_at: Date
}

/** false: it is not kept, since the last one of its title is too new or the run was deleted meanwhile. */
export async function addRunAlert(
  database: CatalogDatabase,
  run: { id: string; project_id: string },
  { waitMs, ...alert }: NewRunAlert,
): Promise<boolean> {
  const size = Buffer.byteLength(alert.title) + Buffer.byteLength(alert.text)
  const removed = await inTransaction(database, async (transaction) => {
    // Alerts of one run are taken one after another, so that two at once do not both find that there is none yet.
    const locked = await transaction.selectFrom("runs").select("id").where("id", "=", run.id).forUpdate().execute()
    if (locked.length === 0 || (await hasNewer(transaction, run.id, alert.title, waitMs))) return null
    await transaction
      .insertInto("run_alerts")
      .values({ run_id: run.id, project_id: run.project_id, size_bytes: size, ...alert })
      .execute()
    return removeOldest(transaction, run.id)
  })
  if (removed === null) return false
  usageOf(database)?.ofProject(run.project_id, size - removed)
  return true
}

async function hasNewer(database: CatalogDatabase, runId: string, title: string, waitMs: number): Promise<boolean> {
  const found = await database
    .selectFrom("run_alerts")
    .select("sequence")
    .where("run_id", "=", runId)
    .where("title", "=", title)
    .where("created_at", ">", sql<Date>`clock_timestamp() - ${waitMs} * interval '1 millisecond'`)
    .executeTakeFirst()
  return found !== undefined
}

/** Bytes that it freed. */
async function removeOldest(database: CatalogDatabase, runId: string): Promise<number> {
  const removed = await database
    .deleteFrom("run_alerts")
    .where("run_id", "=", runId)
    .where("sequence", "<=", (eb) =>
      eb
        .selectFrom("run_alerts")
        .select("sequence")
        .where("run_id", "=", runId)
        .orderBy("sequence", "desc")
        .offset(mostAlerts)
        .limit(1),
    )
    .returning("size_bytes")
    .execute()
  return removed.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
}

export interface RunAlertSelection {
  projectId: string
  /** null: of all runs. */
  runId: string | null
  /** Only those that are older than this one; null begins with the newest. */
  before: number | null
  limit: number
}

/** The newest first. */
export async function listRunAlerts(
  database: CatalogDatabase,
  { projectId, runId, before, limit }: RunAlertSelection,
): Promise<RunAlert[]> {
  let rows = database
    .selectFrom("run_alerts as a")
    .innerJoin("runs as r", "r.id", "a.run_id")
    .select(["a.sequence", "a.title", "a.text", "a.severity", "a.created_at", "r.name as run"])
    .where("a.project_id", "=", projectId)
  if (runId !== null) rows = rows.where("a.run_id", "=", runId)
  if (before !== null) rows = rows.where("a.sequence", "<", before)
  return rows.orderBy("a.sequence", "desc").limit(limit).execute()
}
