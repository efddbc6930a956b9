/**
 * Running training jobs: claiming under a lease, appending events, ending. What may follow what is
 * decided by the caller's {@link JobMove}; here each move is one transaction that does nothing when
 * the job is no longer where the caller thinks.
 */
import { sql } from "kysely"
import type { StoredJobConfig } from "../../wire/training/job.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { JobKind, JobStatus, TrainingEventType } from "./schema.ts"

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
 * the same time; each job goes to one.
 */
export async function claimJob(
  database: CatalogDatabase,
  move: JobMove,
  owner: string,
  leaseSeconds: number,
): Promise<ClaimedJob | null> {
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      select j.id
      from training_jobs j
      join models m on m.id = j.model_id
      where j.status = ${move.from[0]}
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
      for update of j skip locked`.execute(transaction)
    const found = rows[0]
    if (found === undefined) return null
    const job = await transaction
      .updateTable("training_jobs")
      .set((eb) => ({
        status: move.to,
        attempts: eb("attempts", "+", 1),
        lease_owner: owner,
        lease_expires_at: leaseEnd(leaseSeconds),
        started_at: eb.fn.coalesce("started_at", sql<Date>`now()`),
      }))
      .where("id", "=", found.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const model = await transaction
      .selectFrom("models")
      .select(["id", "project_id", "base_model", "base_path", "last_step"])
      .where("id", "=", job.model_id)
      .executeTakeFirstOrThrow()
    return {
      id: job.id,
      kind: job.kind,
      config: job.config,
      dataPath: job.data_path,
      dataSha256: job.data_sha256,
      attempts: job.attempts,
      modelId: model.id,
      projectId: model.project_id,
      baseModel: model.base_model,
      basePath: model.base_path,
      lastStep: model.last_step,
    }
  })
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

export interface NewEvent {
  sequence: number
  type: TrainingEventType
  data: Record<string, unknown>
}

/**
 * Appends events of a running job; one whose place is taken is left as it was, so that a resumed
 * job may repeat itself. A new event is progress and makes the attempts count from 1 again.
 * false: the lease is lost and nothing was written.
 */
export async function appendEvents(
  database: CatalogDatabase,
  lease: JobLease,
  events: readonly NewEvent[],
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    if (!(await holdsLease(transaction, lease))) return false
    const inserted = await transaction
      .insertInto("training_job_events")
      .values(
        events.map((event) => ({
          ...event,
          job_id: lease.jobId,
          data: JSON.stringify(event.data),
        })),
      )
      .onConflict((on) => on.columns(["job_id", "sequence"]).doNothing())
      .returning("sequence")
      .execute()
    if (inserted.some((row) => row.sequence > 0)) {
      await transaction.updateTable("training_jobs").set({ attempts: 1 }).where("id", "=", lease.jobId).execute()
    }
    return true
  })
}

/** Adds a warning to the job unless it is there already. */
export async function addWarning(database: CatalogDatabase, lease: JobLease, message: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const job = await transaction
      .selectFrom("training_jobs")
      .select("warnings")
      .where("id", "=", lease.jobId)
      .where("lease_owner", "=", lease.owner)
      .forUpdate()
      .executeTakeFirst()
    if (job === undefined || job.warnings.includes(message)) return
    await transaction
      .updateTable("training_jobs")
      .set({ warnings: JSON.stringify([...job.warnings, message]) })
      .where("id", "=", lease.jobId)
      .execute()
  })
}

/**
 * Ends a job without a checkpoint. With `owner`, only while that server holds it.
 * false: the job was not in a state that allows it.
 */
export async function endJob(
  database: CatalogDatabase,
  move: JobMove,
  job: { jobId: string; owner: string | null },
  message: string,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    let query = transaction
      .updateTable("training_jobs")
      .set({
        status: move.to,
        error_message: message,
        ended_at: sql<Date>`now()`,
        lease_owner: null,
        lease_expires_at: null,
      })
      .where("id", "=", job.jobId)
      .where("status", "in", move.from)
    if (job.owner !== null) query = query.where("lease_owner", "=", job.owner)
    const ended = await query.returning("id").executeTakeFirst()
    if (ended === undefined) return false
    await appendTerminal(transaction, job.jobId, move, { error_message: message })
    return true
  })
}

export interface NewCheckpoint {
  modelId: string
  step: number
  path: string
  sizeBytes: number
  manifestSha256: string
  metrics: Record<string, number>
}

export type FinishResult = "finished" | "lease_lost" | "model_deleted" | "step_taken"

/**
 * Lists the checkpoint, moves the model's newest step, writes the terminal event and ends the job,
 * all or nothing (training-api 3.1 rule 3).
 */
export async function finishJob(
  database: CatalogDatabase,
  move: JobMove,
  lease: JobLease,
  checkpoint: NewCheckpoint,
): Promise<FinishResult> {
  return database.transaction().execute(async (transaction) => {
    if (!(await holdsLease(transaction, lease))) return "lease_lost"
    const model = await transaction
      .selectFrom("models")
      .select(["last_step", "deleted_at"])
      .where("id", "=", checkpoint.modelId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (model.deleted_at !== null) return "model_deleted"
    if (model.last_step !== checkpoint.step - 1) return "step_taken"
    await transaction
      .updateTable("models")
      .set({ last_step: checkpoint.step })
      .where("id", "=", checkpoint.modelId)
      .execute()
    await transaction
      .insertInto("checkpoints")
      .values({
        model_id: checkpoint.modelId,
        step: checkpoint.step,
        metrics: JSON.stringify(checkpoint.metrics),
        path: checkpoint.path,
        size_bytes: checkpoint.sizeBytes,
        manifest_sha256: checkpoint.manifestSha256,
        job_id: lease.jobId,
      })
      .execute()
    await transaction
      .updateTable("training_jobs")
      .set({
        status: move.to,
        output_step: checkpoint.step,
        ended_at: sql<Date>`now()`,
        lease_owner: null,
        lease_expires_at: null,
      })
      .where("id", "=", lease.jobId)
      .execute()
    await appendTerminal(transaction, lease.jobId, move, {})
    return "finished"
  })
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

export interface AdapterSource {
  step: number
  /** null: the initial adapter, which is the base model's own function. */
  path: string | null
}

/** The checkpoint a job of this model starts from: its newest live one. */
export async function newestCheckpoint(database: CatalogDatabase, modelId: string): Promise<AdapterSource | null> {
  const row = await adapterSources(database, modelId).orderBy("step", "desc").limit(1).executeTakeFirst()
  return row ?? null
}

export async function checkpointAt(
  database: CatalogDatabase,
  modelId: string,
  step: number,
): Promise<AdapterSource | null> {
  const row = await adapterSources(database, modelId).where("step", "=", step).executeTakeFirst()
  return row ?? null
}

function adapterSources(database: CatalogDatabase, modelId: string) {
  return database
    .selectFrom("checkpoints")
    .select(["step", "path"])
    .where("model_id", "=", modelId)
    .where("deleted_at", "is", null)
}

/** Locks the job's row when this server holds it. */
async function holdsLease(transaction: CatalogDatabase, lease: JobLease): Promise<boolean> {
  const job = await transaction
    .selectFrom("training_jobs")
    .select("id")
    .where("id", "=", lease.jobId)
    .where("lease_owner", "=", lease.owner)
    .where("status", "=", "running")
    .forUpdate()
    .executeTakeFirst()
  return job !== undefined
}

async function appendTerminal(
  transaction: CatalogDatabase,
  jobId: string,
  move: JobMove,
  data: Record<string, unknown>,
): Promise<void> {
  if (move.terminal === null) return
  await sql`
    insert into training_job_events (job_id, sequence, type, data)
    select ${jobId}, coalesce(max(sequence) + 1, 0), ${move.terminal}, ${JSON.stringify(data)}::json
    from training_job_events where job_id = ${jobId}`.execute(transaction)
}

function leaseEnd(seconds: number) {
  return sql<Date>`now() + make_interval(secs => ${seconds})`
}
