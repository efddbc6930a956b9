/**
 * Training jobs in the queue: claiming under a lease, keeping it, giving it back. What may follow
 * what is decided by the caller's {@link JobMove}; here each move is one statement that does
 * nothing when the job is no longer where the caller thinks.
 */
import { sql } from "kysely"
import type { StoredJobConfig } from "../../wire/training/job.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { JobKind, JobStatus } from "./schema.ts"

/** A conditional change of state with the terminal event that goes with it. */
export interface JobMove {
  from: readonly JobStatus[]
  to: JobStatus
  terminal: "training_ended" | "training_failed" | null
}

/** Who may write to a running job: the server whose name is on it. */
export interface JobLease {
  jobId: string
  owner: string
}

export interface ClaimedJob {
  id: string
  kind: JobKind
  config: StoredJobConfig
  dataPath: string
  dataSha256: string
  /** How often it was begun since it last made progress, this time included. */
  attempts: number
  modelId: string
  projectId: string
  baseModel: string
  basePath: string | null
  /** The model's highest step ever; the job makes the next one. */
  lastStep: number
}

/**
 * Takes the next job: never while an earlier one of the same model is open, and of those allowed,
 * one of the project that runs the fewest and has waited longest. Several servers may call this at
 * the same time; each job goes to one. One statement: a client waits for the job to begin.
 */
export async function claimJob(
  database: CatalogDatabase,
  move: JobMove,
  owner: string,
  leaseSeconds: number,
): Promise<ClaimedJob | null> {
  const { rows } = await sql<ClaimedJob>`
    with next as materialized (
      select j.id
      from training_jobs j
      join models m on m.id = j.model_id
      where j.status = any(${move.from})
        and not exists (
          select 1 from training_jobs earlier
          where earlier.model_id = j.model_id and earlier.sequence < j.sequence
            and earlier.status in ('queued', 'running'))
      order by
        (select count(*) from training_jobs r join models rm on rm.id = r.model_id
          where r.status = 'running' and rm.project_id = m.project_id),
        (select max(s.started_at) from training_jobs s join models sm on sm.id = s.model_id
          where sm.project_id = m.project_id) nulls first,
        j.sequence
      limit 1
      for update of j skip locked)
    update training_jobs j
    set status = ${move.to}, attempts = j.attempts + 1, lease_owner = ${owner},
      lease_expires_at = ${leaseEnd(leaseSeconds)}, started_at = coalesce(j.started_at, now())
    from next, models m
    where j.id = next.id and m.id = j.model_id
    returning j.id, j.kind, j.config, j.data_path as "dataPath", j.data_sha256 as "dataSha256", j.attempts,
      m.id as "modelId", m.project_id as "projectId", m.base_model as "baseModel", m.base_path as "basePath",
      m.last_step as "lastStep"`.execute(database)
  return rows[0] ?? null
}

/** Prolongs every lease of this server; returns the jobs it holds. */
export async function renewLeases(database: CatalogDatabase, owner: string, leaseSeconds: number): Promise<string[]> {
  const rows = await database
    .updateTable("training_jobs")
    .set({ lease_expires_at: leaseEnd(leaseSeconds) })
    .where("status", "=", "running")
    .where("lease_owner", "=", owner)
    .returning("id")
    .execute()
  return rows.map((row) => row.id)
}

/** Gives back the jobs whose lease has run out; with `everyLease`, all that run. Returns how many. */
export async function reclaimJobs(database: CatalogDatabase, move: JobMove, everyLease: boolean): Promise<number> {
  let query = database
    .updateTable("training_jobs")
    .set({ status: move.to, lease_owner: null, lease_expires_at: null })
    .where("status", "in", move.from)
  if (!everyLease) query = query.where("lease_expires_at", "<", sql<Date>`now()`)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Gives one held job back, so that it can be claimed again. `forgetAttempt`: this server stops, the job is not to blame. */
export async function releaseJob(
  database: CatalogDatabase,
  move: JobMove,
  lease: JobLease,
  forgetAttempt: boolean,
): Promise<void> {
  await database
    .updateTable("training_jobs")
    .set((eb) => ({
      status: move.to,
      lease_owner: null,
      lease_expires_at: null,
      attempts: forgetAttempt ? eb("attempts", "-", 1) : eb.ref("attempts"),
    }))
    .where("id", "=", lease.jobId)
    .where("lease_owner", "=", lease.owner)
    .where("status", "in", move.from)
    .execute()
}

export interface JobStanding {
  open: boolean
  /** Beginnings since it last made progress. */
  attempts: number
}

export async function jobStanding(database: CatalogDatabase, jobId: string): Promise<JobStanding> {
  const { status, attempts } = await database
    .selectFrom("training_jobs")
    .select(["status", "attempts"])
    .where("id", "=", jobId)
    .executeTakeFirstOrThrow()
  return { open: status === "queued" || status === "running", attempts }
}

/** Those of `ids`, which are uuids, that have ended. */
export async function endedJobs(database: CatalogDatabase, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await database
    .selectFrom("training_jobs")
    .select("id")
    .where("status", "not in", ["queued", "running"])
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute()
  return rows.map((row) => row.id)
}

/** Open jobs whose model was deleted. */
export async function jobsOfDeletedModels(database: CatalogDatabase): Promise<string[]> {
  const rows = await database
    .selectFrom("training_jobs")
    .innerJoin("models", "models.id", "training_jobs.model_id")
    .select("training_jobs.id")
    .where("training_jobs.status", "in", ["queued", "running"])
    .where("models.deleted_at", "is not", null)
    .execute()
  return rows.map((row) => row.id)
}

function leaseEnd(seconds: number) {
  return sql<Date>`now() + make_interval(secs => ${seconds})`
}
