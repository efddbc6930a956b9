/** Training jobs of projects, as a list shows them: with their model's name and how far they are. */
import { sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { isStorable } from "../storable-text.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { JobStatus } from "../schema.ts"
import { type NamedJob, namedJobs, toNamedJob } from "./training-jobs.ts"

export interface ListedJob extends NamedJob {
  /** Done by now. */
  gradientSteps: number
  /** null until the job has begun. */
  expectedGradientSteps: number | null
  /** Mean of its newest gradient steps since a server last took it; null: it does not run, or has done fewer than two since. */
  secondsPerStep: number | null
  /** Since the newest of them. */
  secondsSinceStep: number
}

/** Gradient steps whose mean time is told: enough to be steady, few enough to follow a change. */
const measuredSteps = 50

export interface JobSelection {
  entityIds: readonly string[]
  /** null: any. */
  jobId: string | null
  /** Names and an id; null: any. */
  entity: string | null
  project: string | null
  modelId: string | null
  statuses: readonly JobStatus[] | null
  /** Strictly after this job; null begins with the newest. */
  afterId: string | null
  limit: number
}

/** The newest first; also jobs of models that were deleted. */
export async function listJobs(database: CatalogDatabase, selection: JobSelection): Promise<ListedJob[]> {
  const { entityIds, jobId, entity, project, modelId, statuses, afterId, limit } = selection
  if (entityIds.length === 0 || (modelId !== null && !isUuid(modelId))) return []
  if (![entity, project].every((name) => name === null || isStorable(name))) return []
  let query = namedJobs(database)
    .select((eb) => [
      eb
        .selectFrom("training_job_events as e")
        .select(sql<number>`max(e.sequence)`.as("done"))
        .whereRef("e.job_id", "=", "training_jobs.id")
        .where("e.type", "=", "gradient_step")
        .as("gradient_steps"),
      eb
        .selectFrom("training_job_events as e")
        .select(sql<number>`(e.data->>'num_sequences')::int`.as("expected"))
        .whereRef("e.job_id", "=", "training_jobs.id")
        .where("e.type", "=", "training_started")
        .as("expected_gradient_steps"),
      sql<{ per_step: number | null; since: number | null } | null>`(
        select json_build_object(
          'per_step', extract(epoch from max(newest.at) - min(newest.at)) / nullif(count(*) - 1, 0),
          'since', extract(epoch from now() - max(newest.at)))
        from (
          select e.created_at as at from training_job_events e
          where e.job_id = training_jobs.id and training_jobs.status = 'running' and e.type = 'gradient_step'
            and e.created_at >= training_jobs.claimed_at
          order by e.sequence desc limit ${measuredSteps}) newest)`.as("pace"),
    ])
    .where("entities.id", "in", entityIds)
  if (jobId !== null) query = query.where("training_jobs.id", "=", jobId)
  if (entity !== null) query = query.where("entities.name", "=", entity)
  if (project !== null) query = query.where("projects.name", "=", project)
  if (modelId !== null) query = query.where("training_jobs.model_id", "=", modelId)
  if (statuses !== null) query = query.where("training_jobs.status", "in", statuses)
  if (afterId !== null) {
    const after = database.selectFrom("training_jobs").select("sequence").where("id", "=", afterId)
    query = query.where("training_jobs.sequence", "<", after)
  }
  const rows = await query.orderBy("training_jobs.sequence", "desc").limit(limit).execute()
  return rows.map((row) => ({
    ...toNamedJob(row),
    gradientSteps: row.gradient_steps ?? 0,
    expectedGradientSteps: row.expected_gradient_steps,
    secondsPerStep: row.pace?.per_step ?? null,
    secondsSinceStep: row.pace?.since ?? 0,
  }))
}
