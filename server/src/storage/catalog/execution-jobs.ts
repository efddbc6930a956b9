/** The queue of work that requests leave to the server: claimed under a lease, ended once. */
import { sql } from "kysely"
import { isUuid } from "./identifiers.ts"
import type { ExecutionJobKind, ExecutionJobStatus } from "./execution-jobs-schema.ts"
import type { CatalogDatabase } from "./open-catalog.ts"

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
  /** `entity/project`. */
  projectName: string
  /** This beginning included. */
  attempts: number
}

export async function storeExecutionJob(database: CatalogDatabase, job: NewExecutionJob): Promise<void> {
  const { id, projectId, userId, apiKeyId, kind, request } = job
  await database
    .insertInto("execution_jobs")
    .values({ id, project_id: projectId, user_id: userId, api_key_id: apiKeyId, kind, request })
    .execute()
}

/** The next of the project that has the fewest running; several servers may ask, each job goes to one. */
export async function claimExecutionJob(
  database: CatalogDatabase,
  owner: string,
  leaseSeconds: number,
): Promise<ClaimedExecutionJob | null> {
  const { rows } = await sql<ClaimedExecutionJob>`
    with next as materialized (
      select j.id from execution_jobs j where j.status = 'queued'
      order by (select count(*) from execution_jobs r where r.status = 'running' and r.project_id = j.project_id), j.sequence
      limit 1 for update of j skip locked)
    update execution_jobs j
    set status = 'running', attempts = j.attempts + 1, lease_owner = ${owner}, lease_expires_at = ${leaseEnd(leaseSeconds)}
    from next, projects p, entities e
    where j.id = next.id and p.id = j.project_id and e.id = p.entity_id
    returning j.id, j.kind, j.request, j.attempts, j.project_id as "projectId", j.user_id as "userId",
      j.api_key_id as "apiKeyId", e.name || '/' || p.name as "projectName"`.execute(database)
  return rows[0] ?? null
}

/** Prolongs every lease of this server; returns the jobs it holds. */
export async function renewExecutionLeases(
  database: CatalogDatabase,
  owner: string,
  leaseSeconds: number,
): Promise<string[]> {
  const rows = await database
    .updateTable("execution_jobs")
    .set({ lease_expires_at: leaseEnd(leaseSeconds) })
    .where("status", "=", "running")
    .where("lease_owner", "=", owner)
    .returning("id")
    .execute()
  return rows.map(({ id }) => id)
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

/** Back to the queue; this beginning does not count: the server stops, the job is not to blame. */
export async function releaseExecutionJob(database: CatalogDatabase, id: string, owner: string): Promise<void> {
  await database
    .updateTable("execution_jobs")
    .set((eb) => ({ status: "queued", lease_owner: null, lease_expires_at: null, attempts: eb("attempts", "-", 1) }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .where("status", "=", "running")
    .execute()
}

/** `error` null: it is done. Does nothing when the job is not this server's any more. */
export async function endExecutionJob(
  database: CatalogDatabase,
  id: string,
  owner: string,
  error: string | null,
): Promise<void> {
  await database
    .updateTable("execution_jobs")
    .set({
      status: error === null ? "done" : "failed",
      error_message: error,
      lease_owner: null,
      lease_expires_at: null,
      ended_at: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .where("status", "=", "running")
    .execute()
}

export async function setExecutionJobTotal(database: CatalogDatabase, id: string, total: number): Promise<void> {
  await database.updateTable("execution_jobs").set({ total_items: total }).where("id", "=", id).execute()
}

export interface ExecutionJobStanding {
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
    .select(["status", "total_items as totalItems", "error_message as error"])
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst()
  return row ?? null
}

function leaseEnd(seconds: number) {
  return sql<Date>`now() + make_interval(secs => ${seconds})`
}
