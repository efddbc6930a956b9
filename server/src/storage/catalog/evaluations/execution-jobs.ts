/** The queue of work that requests leave to the server: claimed under a lease, ended once. */
import { sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import type { ExecutionJobKind, ExecutionJobStatus } from "./execution-jobs-schema.ts"
import { inTransaction } from "../in-transaction.ts"
import { leaseEnd } from "../lease-end.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { entityOf } from "../accounts/projects.ts"
import { requireOneMore } from "../accounts/team-quotas.ts"

export interface NewExecutionJob {
  id: string
  projectId: string
  userId: string
  apiKeyId: string
  kind: ExecutionJobKind
  /** JSON text. */
  request: string
}

export interface ClaimedExecutionJob extends NewExecutionJob {
  /** Unique per claim, so that a lost claim cannot speak for a later one of the same server. */
  lease: string
  /** `entity/project`. */
  projectName: string
  /** How often it was claimed, this time included. */
  attempts: number
}

/** @throws {HeddleError} 429 when the team has too many open jobs. */
export async function storeExecutionJob(database: CatalogDatabase, job: NewExecutionJob): Promise<void> {
  const { id, projectId, userId, apiKeyId, kind, request } = job
  await inTransaction(database, async (transaction) => {
    await requireOneMore(transaction, await entityOf(transaction, projectId), "open_jobs")
    await transaction
      .insertInto("execution_jobs")
      .values({ id, project_id: projectId, user_id: userId, api_key_id: apiKeyId, kind, request })
      .execute()
  })
}

export interface ExecutionJobClaim {
  lease: string
  leaseSeconds: number
  /** Leases of the jobs that this server runs. */
  held: readonly string[]
  /** Limit on the running jobs of one team. */
  mostOfTeam: number
}

/**
 * Claims the next job: of the team that has the fewest running, in it of the user with the fewest, then of that user's
 * project with the fewest. So nobody gets ahead of others by making more projects. Several servers may ask; each job
 * goes to one.
 */
export async function claimExecutionJob(
  database: CatalogDatabase,
  { lease, leaseSeconds, held, mostOfTeam }: ExecutionJobClaim,
): Promise<ClaimedExecutionJob | null> {
  const { rows } = await sql<ClaimedExecutionJob>`
    with running as (
      select p.entity_id, r.user_id, r.project_id from execution_jobs r join projects p on p.id = r.project_id
      where r.status = 'running'),
    next as materialized (
      select j.id from execution_jobs j join projects p on p.id = j.project_id
      where j.status = 'queued'
        and (select count(*) from execution_jobs r join projects rp on rp.id = r.project_id
          where r.status = 'running' and r.lease_owner = any(${held}) and rp.entity_id = p.entity_id) < ${mostOfTeam}
      order by (select count(*) from running r where r.entity_id = p.entity_id),
        (select count(*) from running r where r.entity_id = p.entity_id and r.user_id = j.user_id),
        (select count(*) from running r where r.project_id = j.project_id and r.user_id = j.user_id), j.sequence
      limit 1 for update of j skip locked)
    update execution_jobs j
    set status = 'running', attempts = j.attempts + 1, lease_owner = ${lease}, lease_expires_at = ${leaseEnd(leaseSeconds)}
    from next, projects p, entities e
    where j.id = next.id and p.id = j.project_id and e.id = p.entity_id
    returning j.id, j.lease_owner as lease, j.kind, j.request, j.attempts, j.project_id as "projectId", j.user_id as "userId",
      j.api_key_id as "apiKeyId", e.name || '/' || p.name as "projectName"`.execute(database)
  return rows[0] ?? null
}

/** Prolongs these leases; returns those that are still held. */
export async function renewExecutionLeases(
  database: CatalogDatabase,
  leases: readonly string[],
  leaseSeconds: number,
): Promise<Set<string>> {
  const { rows } = await sql<{ lease: string }>`
    update execution_jobs set lease_expires_at = ${leaseEnd(leaseSeconds)}
    where status = 'running' and lease_owner = any(${leases}) returning lease_owner as lease`.execute(database)
  return new Set(rows.map(({ lease }) => lease))
}

/** Gives back the jobs whose lease has run out; with `everyLease`, all that run. */
export async function reclaimExecutionJobs(database: CatalogDatabase, everyLease: boolean): Promise<void> {
  let query = database
    .updateTable("execution_jobs")
    .set({ status: "queued", lease_owner: null, lease_expires_at: null })
    .where("status", "=", "running")
  if (!everyLease) query = query.where("lease_expires_at", "<", sql<Date>`now()`)
  await query.execute()
}

/** Gives a job back to the queue when the server stops. The claim does not count as an attempt: the job is not to blame. */
export async function releaseExecutionJob(database: CatalogDatabase, lease: string): Promise<void> {
  await database
    .updateTable("execution_jobs")
    .set((eb) => ({ status: "queued", lease_owner: null, lease_expires_at: null, attempts: eb("attempts", "-", 1) }))
    .where("lease_owner", "=", lease)
    .where("status", "=", "running")
    .execute()
}

/** Ends a job: as failed with `error`, or as done with null. Does nothing when the lease was lost. */
export async function endExecutionJob(database: CatalogDatabase, lease: string, error: string | null): Promise<void> {
  await database
    .updateTable("execution_jobs")
    .set({
      status: error === null ? "done" : "failed",
      error_message: error,
      lease_owner: null,
      lease_expires_at: null,
      ended_at: sql<Date>`now()`,
    })
    .where("lease_owner", "=", lease)
    .where("status", "=", "running")
    .execute()
}

/** So long the work that has ended is there for whoever looks for it in the catalog. */
const endedJobDays = 7

/**
 * Removes jobs that ended long ago; returns how many. Why an evaluation failed is kept: where its call has no end, only the job
 * says so.
 */
export async function removeEndedExecutionJobs(database: CatalogDatabase): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom("execution_jobs")
    .where("ended_at", "<", sql<Date>`now() - make_interval(days => ${endedJobDays})`)
    .where((eb) => eb.or([eb("status", "=", "done"), eb("kind", "in", ["score_calls", "run_action"])]))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function setExecutionJobTotal(database: CatalogDatabase, id: string, total: number): Promise<void> {
  await database.updateTable("execution_jobs").set({ total_items: total }).where("id", "=", id).execute()
}

export interface ExecutionJobStanding {
  kind: ExecutionJobKind
  status: ExecutionJobStatus
  totalItems: number | null
  error: string | null
}

/** null: the project has no such job. */
export async function findExecutionJob(
  database: CatalogDatabase,
  projectId: string,
  id: string,
): Promise<ExecutionJobStanding | null> {
  if (!isUuid(id)) return null
  const row = await database
    .selectFrom("execution_jobs")
    .select(["kind", "status", "total_items as totalItems", "error_message as error"])
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst()
  return row ?? null
}
