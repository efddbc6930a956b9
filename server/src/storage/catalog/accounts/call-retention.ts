/** How long calls of a project are kept: the setting, and whose turn it is to remove what is past it. */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"
import { leaseEnd } from "../lease-end.ts"
import { RememberedReads } from "../remembered-reads.ts"

/** Nearly every read of calls asks for it. */
const knownDays = new RememberedReads<number | null>()

/** Days after its start for which a call is kept; null: until it is deleted. */
export async function retentionDays(database: CatalogDatabase, projectId: string): Promise<number | null> {
  const known = knownDays.get(database, projectId)
  if (known !== undefined) return known
  const remember = knownDays.reading(database)
  const days = await storedRetentionDays(database, projectId)
  remember(projectId, days)
  return days
}

/** {@link retentionDays} as the catalog has it now. */
export async function storedRetentionDays(database: CatalogDatabase, projectId: string): Promise<number | null> {
  const row = await database
    .selectFrom("call_retention")
    .select("retention_days")
    .where("project_id", "=", projectId)
    .executeTakeFirst()
  return row?.retention_days ?? null
}

/** Call {@link forgetRetention} when it is committed. Returns whether it was another before. */
export async function setRetentionDays(
  database: CatalogDatabase,
  projectId: string,
  days: number | null,
): Promise<boolean> {
  if (days === null) {
    const { numDeletedRows } = await database
      .deleteFrom("call_retention")
      .where("project_id", "=", projectId)
      .executeTakeFirst()
    return numDeletedRows > 0
  }
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("call_retention")
    .values({ project_id: projectId, retention_days: days })
    .onConflict((on) =>
      on.column("project_id").doUpdateSet({ retention_days: days }).where("call_retention.retention_days", "!=", days),
    )
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export function forgetRetention(database: CatalogDatabase): void {
  knownDays.forget(database)
}

/** A project whose calls past the limit one run removes. */
export interface RetentionTurn {
  owner: string
  projectId: string
  retentionDays: number
  entityId: string
  entity: string
  /** `entity/project`. */
  project: string
}

/** Longer than any statement between two calls of {@link keepsTurn}. A killed server's turn ends after it. */
const leaseSeconds = 15 * 60

/** The moment from which a pass over all projects counts, by the clock of the catalog. */
export async function passBegins(database: CatalogDatabase): Promise<string> {
  const { rows } = await sql<{ now: string }>`select now()::text as now`.execute(database)
  return rows[0]?.now ?? ""
}

/** A project that nobody went through since `pass`, and nobody is at; null: there is none. Another server takes another. */
export async function nextRetentionTurn(
  database: CatalogDatabase,
  owner: string,
  pass: string,
): Promise<RetentionTurn | null> {
  const { rows } = await sql<{
    project_id: string
    retention_days: number
    entity_id: string
    entity: string
    project: string
  }>`
    with taken as (
      update call_retention set lease_owner = ${owner}, lease_expires_at = ${leaseEnd(leaseSeconds)}
      where project_id = (
        select r.project_id from call_retention r join projects p on p.id = r.project_id
        where (r.worked_at is null or r.worked_at < ${pass}::timestamptz)
          and (r.lease_expires_at is null or r.lease_expires_at <= now())
        order by r.project_id limit 1 for update of r skip locked)
      returning project_id, retention_days)
    select t.project_id, t.retention_days, p.entity_id, e.name as entity, e.name || '/' || p.name as project
    from taken t join projects p on p.id = t.project_id join entities e on e.id = p.entity_id`.execute(database)
  const [row] = rows
  if (row === undefined) return null
  const { project_id: projectId, retention_days: days, entity_id: entityId, entity, project } = row
  return { owner, projectId, retentionDays: days, entityId, entity, project }
}

/** Whether other runs are at projects that nobody went through since `pass`. */
export async function othersAtRetention(database: CatalogDatabase, pass: string): Promise<boolean> {
  const { rows } = await sql`select 1 from call_retention r join projects p on p.id = r.project_id
    where (r.worked_at is null or r.worked_at < ${pass}::timestamptz) limit 1`.execute(database)
  return rows.length > 0
}

/** Prolongs the turn. false: it went to another run, or the limit is another now, or the project was deleted. */
export async function keepsTurn(database: CatalogDatabase, turn: RetentionTurn): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("call_retention")
    .set({ lease_expires_at: leaseEnd(leaseSeconds) })
    .where("project_id", "=", turn.projectId)
    .where("lease_owner", "=", turn.owner)
    .where("retention_days", "=", turn.retentionDays)
    .where((eb) => eb.exists(eb.selectFrom("projects").select("id").where("id", "=", turn.projectId)))
    .executeTakeFirst()
  return numUpdatedRows > 0
}

/** `isThrough`: nothing is left to do in this pass. */
export async function endTurn(
  database: CatalogDatabase,
  { projectId, owner }: RetentionTurn,
  isThrough: boolean,
): Promise<void> {
  await database
    .updateTable("call_retention")
    .set({ lease_owner: null, lease_expires_at: null, ...(isThrough && { worked_at: sql<Date>`now()` }) })
    .where("project_id", "=", projectId)
    .where("lease_owner", "=", owner)
    .execute()
}
