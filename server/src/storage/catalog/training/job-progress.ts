/**
 * What a running job writes: events, warnings, its end. Each is all or nothing and does nothing
 * when the job is no longer where the caller thinks.
 */
import { sql } from "kysely"
import type { JobLease, JobMove } from "./job-claims.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { endOwnRunOfJob } from "../runs/runs.ts"
import type { TrainingEventType } from "../schema.ts"
import { storableText } from "../storable-text.ts"

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
  const { rows } = await sql<{ held: number }>`
    with held as (
      select id from training_jobs
      where id = ${lease.jobId} and lease_owner = ${lease.owner} and status = 'running'
      for update),
    inserted as (
      insert into training_job_events (job_id, sequence, type, data)
      select held.id, e.sequence, e.type, e.data
      from held, json_to_recordset(${JSON.stringify(events)}::json) as e(sequence int, type text, data json)
      on conflict (job_id, sequence) do nothing
      returning sequence),
    progressed as (
      update training_jobs set attempts = 1
      where id in (select id from held) and attempts > 1 and exists (select 1 from inserted where sequence > 0))
    select count(*)::int as held from held`.execute(database)
  return rows[0]?.held === 1
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

/** Ends a job without a checkpoint, while this server holds it. */
export async function failJob(
  database: CatalogDatabase,
  move: JobMove,
  lease: JobLease,
  reason: string,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const ended = await ending(transaction, move, lease.jobId, reason)
      .set({ lease_owner: null, lease_expires_at: null })
      .where("lease_owner", "=", lease.owner)
      .returning("error_message")
      .executeTakeFirst()
    if (ended !== undefined) await appendTerminal(transaction, lease.jobId, move, ended)
  })
}

/**
 * Ends a job without a checkpoint, whoever holds it. Its server learns of it and keeps the lease until it has stopped
 * the work, as the next job of the model writes to the same folder. null: the job was not in a state that allows it.
 */
export async function cancelJob(
  database: CatalogDatabase,
  move: JobMove,
  jobId: string,
  reason: string,
): Promise<{ isHeld: boolean } | null> {
  return inTransaction(database, async (transaction) => {
    const ended = await ending(transaction, move, jobId, reason)
      .returning(["error_message", sql<boolean>`coalesce(lease_expires_at > now(), false)`.as("is_held")])
      .executeTakeFirst()
    if (ended === undefined) return null
    const { error_message, is_held: isHeld } = ended
    await appendTerminal(transaction, jobId, move, { error_message })
    await endOwnRunOfJob(transaction, jobId)
    return { isHeld }
  })
}

function ending(transaction: CatalogDatabase, move: JobMove, jobId: string, reason: string) {
  return transaction
    .updateTable("training_jobs")
    .set({ status: move.to, error_message: storableText(reason), ended_at: sql<Date>`now()`, ...pauseIsOver })
    .where("id", "=", jobId)
    .where("status", "in", move.from)
}

/** A pause before the job has begun takes nothing from the time that it ran. */
const pauseIsOver = {
  paused_at: null,
  paused_seconds: sql<number>`paused_seconds
    + case when started_at is null or paused_at is null then 0 else extract(epoch from now() - paused_at) end`,
}

/**
 * Takes a job off the queue, whoever holds it. Its server learns of it and keeps the lease until the engine has stopped and
 * left a snapshot. false: the job was not in a state that allows it.
 */
export async function pauseJob(database: CatalogDatabase, move: JobMove, jobId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("training_jobs")
    // The beginnings before count no more: it did not end by itself.
    .set({ status: move.to, paused_at: sql<Date>`now()`, attempts: 0 })
    .where("id", "=", jobId)
    .where("status", "in", move.from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Puts a paused job back to its place in the queue. false: it was not paused. */
export async function resumeJob(database: CatalogDatabase, move: JobMove, jobId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("training_jobs")
    .set({ status: move.to, ...pauseIsOver })
    .where("id", "=", jobId)
    .where("status", "in", move.from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
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
