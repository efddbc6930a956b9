/** Training jobs as clients create and read them; claiming and ending them is `job-claims.ts`. */
import { usageOf } from "../../team-usage.ts"
import { entityOf } from "../accounts/projects.ts"
import { requireOneMore } from "../accounts/team-quotas.ts"
import type { JobKind, JobStatus } from "../schema.ts"
import type { StoredJobConfig } from "../../../wire/training/job.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isUuid } from "../identifiers.ts"
import { storableText } from "../storable-text.ts"
import type { TrainFromBody, TrainingSummary } from "../../../wire/training/train-from.ts"

export interface JobRecord {
  id: string
  modelId: string
  kind: JobKind
  status: JobStatus
  warnings: string[]
  errorMessage: string | null
  outputStep: number | null
  createdAt: Date
  startedAt: Date | null
  endedAt: Date | null
  /** Since when it is paused. */
  pausedAt: Date | null
}

export interface NamedJob extends JobRecord {
  projectId: string
  entity: string
  project: string
  /** The model's name. */
  model: string
}

/** Source of a job whose data the server put together; its rows are `traces/training-rows.ts`. */
export interface TrainingSourceRecord {
  id: string
  /** Project of the source. */
  projectId: string
  request: Pick<TrainFromBody, "source" | "target">
  summary: TrainingSummary
}

export interface NewJob {
  modelId: string
  projectId: string
  /** User that requests the job. */
  userId: string
  config: StoredJobConfig
  requestedConfig: unknown
  /** The engine's data file, relative to the data folder. */
  dataPath: string
  dataSha256: string
  dataBytes: number
  warnings: readonly string[]
  /** Set when the data cannot be trained on: the job is stored as failed, for this reason. */
  failure: string | null
  /** Source of the data, absent if the client sent it. */
  source?: TrainingSourceRecord
}

/** Stores the job. null: the model is gone. @throws {HeddleError} 429 when the team has too many open ones. */
export async function createJob(database: CatalogDatabase, job: NewJob): Promise<JobRecord | null> {
  const failure = job.failure === null ? null : storableText(job.failure)
  const made = await database.transaction().execute(async (transaction) => {
    if (failure === null) await requireOneMore(transaction, await entityOf(transaction, job.projectId), "open_jobs")
    const model = await transaction
      .selectFrom("models")
      .select("id")
      .where("id", "=", job.modelId)
      .where("deleted_at", "is", null)
      .forShare()
      .executeTakeFirst()
    if (model === undefined) return null
    const row = await transaction
      .insertInto("training_jobs")
      .values({
        model_id: job.modelId,
        user_id: job.userId,
        kind: job.config.kind,
        status: failure === null ? "queued" : "failed",
        config: JSON.stringify(job.config),
        requested_config: JSON.stringify(job.requestedConfig ?? null),
        data_path: job.dataPath,
        data_sha256: job.dataSha256,
        data_bytes: job.dataBytes,
        error_message: failure,
        warnings: JSON.stringify(job.warnings),
        ended_at: failure === null ? null : new Date(),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (job.source !== undefined) {
      const { id, projectId: project_id, request, summary } = job.source
      const texts = { request: JSON.stringify(request), summary: JSON.stringify(summary) }
      await transaction
        .insertInto("training_sources")
        .values({ job_id: row.id, id, project_id, ...texts })
        .execute()
    }
    if (failure !== null) {
      await transaction
        .insertInto("training_job_events")
        .values({
          job_id: row.id,
          sequence: 0,
          type: "training_failed",
          data: JSON.stringify({ error_message: failure }),
        })
        .execute()
    }
    return toJobRecord(row)
  })
  if (made !== null) usageOf(database)?.ofProject(job.projectId, job.dataBytes)
  return made
}

/** A job of a model of these entities; the model may be deleted by now. */
export async function findJob(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<NamedJob | null> {
  if (!isUuid(id)) return null
  const row = await namedJobs(database)
    .where("training_jobs.id", "=", id)
    .where("entities.id", "in", entityIds)
    .executeTakeFirst()
  return row === undefined ? null : toNamedJob(row)
}

export function namedJobs(database: CatalogDatabase) {
  return database
    .selectFrom("training_jobs")
    .innerJoin("models", "models.id", "training_jobs.model_id")
    .innerJoin("projects", "projects.id", "models.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .selectAll("training_jobs")
    .select(["projects.id as projectId", "entities.name as entity", "projects.name as project", "models.name as model"])
}

type NamedJobRow = JobRow & Pick<NamedJob, "projectId" | "entity" | "project" | "model">

export function toNamedJob(row: NamedJobRow): NamedJob {
  const { projectId, entity, project, model } = row
  return { ...toJobRecord(row), projectId, entity, project, model }
}

interface JobRow {
  id: string
  model_id: string
  kind: JobKind
  status: JobStatus
  warnings: string[]
  error_message: string | null
  output_step: number | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  paused_at: Date | null
}

function toJobRecord(row: JobRow): JobRecord {
  const { id, kind, status, warnings } = row
  return {
    id,
    modelId: row.model_id,
    kind,
    status,
    warnings,
    errorMessage: row.error_message,
    outputStep: row.output_step,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    pausedAt: row.paused_at,
  }
}
