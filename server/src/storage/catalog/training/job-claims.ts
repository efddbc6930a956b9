/**
 * Training jobs in the queue: which one is next, never two of one model at a time ({@link claimJob}); keeping the lease of a
 * job, giving it back. What may follow what is decided by the caller's {@link JobMove}; here each move is one statement that
 * does nothing when the job is no longer where the caller thinks.
 */
import { sql } from "kysely"
import type { StoredJobConfig } from "../../../wire/training/job.ts"
import type { SftJobConfig } from "../../../wire/training/sft-job.ts"
import { leaseEnd } from "../lease-end.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { JobKind, JobStatus } from "../schema.ts"

/** A conditional change of state with the terminal event that goes with it. */
export interface JobMove {
  from: readonly JobStatus[]
  to: JobStatus
  terminal: "training_ended" | "training_failed" | null
}

/** The server that may write to a running job: its name stands in the job's row. */
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
  /** Name of the run that has the model's metrics. */
  runName: string
  /** User that requested the job, or null for a job older than this column. */
  userId: string | null
  startedAt: Date
  /** The client's wishes for the run (training-api 3.5), or null if it sent none. */
  metricLogging: SftJobConfig["metric_logging"] | null
}

/** Window of run time that counts when teams take turns. */
const recentSeconds = 3600

/**
 * Takes the next job: never while an earlier one of the same model is open, paused ones too, or while a server has not yet
 * let go of one that was cancelled or paused. Among the teams that have one, it is the turn of the one that runs the fewest
 * jobs now, then of the one whose jobs ran the shortest in the last hour; among the team's users, and among a user's projects,
 * the same; in a project the earliest. So making more projects gets nobody ahead of others. Several servers may call this at the same time; each job goes to one, and none of the jobs `except`. A model
 * that gets a checkpoint from elsewhere at this moment (`new-step.ts`) has its turn when that is stored: its job makes the step
 * after it. One statement: a client waits for the job to begin.
 */
export async function claimJob(
  database: CatalogDatabase,
  move: JobMove,
  owner: string,
  leaseSeconds: number,
  except: readonly string[] = [],
): Promise<ClaimedJob | null> {
  const { rows } = await sql<Omit<ClaimedJob, "metricLogging"> & { requested: unknown }>`
    with recent as (
      select p.entity_id, j.user_id, p.id as project_id, count(*) filter (where j.status = 'running') as running,
        sum(extract(epoch from coalesce(j.ended_at, now())
          - greatest(j.started_at + make_interval(secs => j.paused_seconds), ${windowStart()}))) as seconds
      from training_jobs j join models m on m.id = j.model_id join projects p on p.id = m.project_id
      where j.started_at is not null and (j.status = 'running' or j.ended_at > ${windowStart()})
      group by p.entity_id, j.user_id, p.id),
    of_teams as (
      select entity_id, sum(running) as running, sum(seconds) as seconds from recent group by entity_id),
    of_users as (
      select entity_id, user_id, sum(running) as running, sum(seconds) as seconds from recent group by entity_id, user_id),
    next as materialized (
      select j.id, m.last_step
      from training_jobs j join models m on m.id = j.model_id join projects p on p.id = m.project_id
      left join of_teams t on t.entity_id = p.entity_id
      left join of_users u on u.entity_id = p.entity_id and u.user_id is not distinct from j.user_id
      left join recent r on r.project_id = p.id and r.user_id is not distinct from j.user_id
      where j.status = any(${move.from}) and not j.id = any(${except}::uuid[])
        and not exists (
          select 1 from training_jobs earlier
          where earlier.model_id = j.model_id and earlier.sequence < j.sequence
            and earlier.status in ('queued', 'running', 'paused'))
        and not exists (
          select 1 from training_jobs held
          where held.model_id = j.model_id and held.status in ('queued', 'paused', 'cancelled')
            and held.lease_owner is not null and held.lease_expires_at > now())
      order by coalesce(t.running, 0), coalesce(t.seconds, 0), coalesce(u.running, 0), coalesce(u.seconds, 0),
        coalesce(r.running, 0), coalesce(r.seconds, 0), j.sequence
      limit 1
      for update of j skip locked for share of m skip locked)
    update training_jobs j
    set status = ${move.to}, attempts = j.attempts + 1, lease_owner = ${owner},
      lease_expires_at = ${leaseEnd(leaseSeconds)}, started_at = coalesce(j.started_at, now()), claimed_at = now()
    from next, models m
    where j.id = next.id and m.id = j.model_id
    returning j.id, j.kind, j.config, j.data_path as "dataPath", j.data_sha256 as "dataSha256", j.attempts,
      m.id as "modelId", m.project_id as "projectId", m.base_model as "baseModel", m.base_path as "basePath",
      next.last_step as "lastStep", m.run_id as "runName", j.user_id as "userId", j.started_at as "startedAt",
      j.requested_config as requested`.execute(database)
  const [row] = rows
  if (row === undefined) return null
  const { requested, ...job } = row
  return { ...job, metricLogging: metricLoggingIn(job.kind, requested) }
}

/**
 * Read here and not in the statement: SQL that takes a document apart fails where any text of it has U+0000, and no job would
 * be claimed while that one is next. The settings of `rl` have no wishes, whatever keys their client added.
 */
function metricLoggingIn(kind: JobKind, requested: unknown): ClaimedJob["metricLogging"] {
  if (kind === "rl") return null
  return (requested as { config: SftJobConfig | null } | null)?.config?.metric_logging ?? null
}

function windowStart() {
  return sql<Date>`now() - make_interval(secs => ${recentSeconds})`
}

/**
 * Prolongs the leases of the jobs that this server works on, also those of cancelled and paused ones that it has not yet let go
 * of, unless such a lease has run out: another server may run the job or the model's next one by now.
 */
export async function renewLeases(
  database: CatalogDatabase,
  owner: string,
  jobIds: readonly string[],
  leaseSeconds: number,
): Promise<void> {
  await database
    .updateTable("training_jobs")
    .set({ lease_expires_at: leaseEnd(leaseSeconds) })
    .where(sql<boolean>`id = any(${jobIds}::uuid[])`)
    .where("lease_owner", "=", owner)
    .where((eb) => eb.or([eb("status", "=", "running"), eb("lease_expires_at", ">", sql<Date>`now()`)]))
    .execute()
}

/** The jobs that this server may go on with. */
export async function heldJobs(database: CatalogDatabase, owner: string): Promise<string[]> {
  const rows = await database
    .selectFrom("training_jobs")
    .select("id")
    .where("status", "=", "running")
    .where("lease_owner", "=", owner)
    .execute()
  return rows.map((row) => row.id)
}

/** Gives back the jobs whose lease has run out; with `everyLease`, all that run, and ends the leases of those that do not. */
export async function reclaimJobs(database: CatalogDatabase, move: JobMove, everyLease: boolean): Promise<void> {
  let query = database
    .updateTable("training_jobs")
    .set({ status: move.to, lease_owner: null, lease_expires_at: null })
    .where("status", "in", move.from)
  if (!everyLease) query = query.where("lease_expires_at", "<", sql<Date>`now()`)
  await query.execute()
  if (everyLease) await leasesOfStopped(database).where("lease_owner", "is not", null).execute()
}

/** The lease of a job that does not run: its server has stopped working on it and removed what it left. */
export async function letGo(database: CatalogDatabase, lease: JobLease): Promise<void> {
  await leasesOfStopped(database).where("id", "=", lease.jobId).where("lease_owner", "=", lease.owner).execute()
}

function leasesOfStopped(database: CatalogDatabase) {
  return database
    .updateTable("training_jobs")
    .set({ lease_owner: null, lease_expires_at: null })
    .where("status", "<>", "running")
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
  /** null: there is no such job. */
  status: JobStatus | null
  open: boolean
  /** Which server holds it; null also when the lease has run out. */
  owner: string | null
  /** Beginnings since it last made progress. */
  attempts: number
}

/** The statuses of jobs that have not ended. */
export const openStatuses = ["queued", "running", "paused"] as const satisfies JobStatus[]

function isOpen(status: JobStatus): boolean {
  return (openStatuses as readonly JobStatus[]).includes(status)
}

/** A job that was removed with its project has ended. */
export async function jobStanding(database: CatalogDatabase, jobId: string): Promise<JobStanding> {
  const job = await database
    .selectFrom("training_jobs")
    .select(["status", "attempts"])
    .select(sql<string | null>`case when lease_expires_at > now() then lease_owner end`.as("owner"))
    .where("id", "=", jobId)
    .executeTakeFirst()
  if (job === undefined) return { status: null, open: false, owner: null, attempts: 0 }
  const { status, owner, attempts } = job
  return { status, open: isOpen(status), owner, attempts }
}

/** Those of `ids`, which are uuids, that have ended; with `before`, earlier than that. */
export async function endedJobs(database: CatalogDatabase, ids: readonly string[], before?: Date): Promise<string[]> {
  if (ids.length === 0) return []
  let query = database
    .selectFrom("training_jobs")
    .select("id")
    .where("status", "not in", openStatuses)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
  if (before !== undefined) query = query.where("ended_at", "<", before)
  const rows = await query.execute()
  return rows.map((row) => row.id)
}

/** Open jobs whose model was deleted. */
export async function jobsOfDeletedModels(database: CatalogDatabase): Promise<string[]> {
  const rows = await database
    .selectFrom("training_jobs")
    .innerJoin("models", "models.id", "training_jobs.model_id")
    .select("training_jobs.id")
    .where("training_jobs.status", "in", openStatuses)
    .where("models.deleted_at", "is not", null)
    .execute()
  return rows.map((row) => row.id)
}
