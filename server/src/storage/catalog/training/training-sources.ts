/** Sources of jobs: the request and its outcome. The rows themselves are `traces/training-rows.ts`. */
import { sql } from "kysely"
import { parseExact } from "../../../json/exact-json.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { JobKind } from "../schema.ts"
import { highestStep } from "./checkpoints.ts"
import { namedJobs, type NamedJob, toNamedJob, type TrainingSourceRecord } from "./training-jobs.ts"

/** Numbers of its request are in the spelling in which they came. null: the job's data was sent by its client. */
export async function findTrainingSource(
  database: CatalogDatabase,
  jobId: string,
): Promise<TrainingSourceRecord | null> {
  if (!isUuid(jobId)) return null
  const row = await database
    .selectFrom("training_sources")
    .select(["id", "project_id as projectId", sql<string>`request::text`.as("request"), "summary"])
    .where("job_id", "=", jobId)
    .executeTakeFirst()
  if (row === undefined) return null
  return { ...row, request: parseExact(row.request) as TrainingSourceRecord["request"] }
}

/** Jobs of these entities that were made of these sources, by the id of the source. */
export async function jobsOfSources(
  database: CatalogDatabase,
  entityIds: readonly string[],
  sourceIds: readonly string[],
): Promise<Map<string, NamedJob>> {
  if (sourceIds.length === 0 || entityIds.length === 0) return new Map()
  const rows = await namedJobs(database)
    .innerJoin("training_sources", "training_sources.job_id", "training_jobs.id")
    .select("training_sources.id as source_id")
    .where("training_sources.id", "in", sourceIds)
    .where("entities.id", "in", entityIds)
    .execute()
  return new Map(rows.map((row) => [row.source_id, toNamedJob(row)]))
}

/** The job that made a checkpoint; null: none did. */
export async function jobOfStep(database: CatalogDatabase, modelId: string, step: number): Promise<string | null> {
  if (step > highestStep) return null
  const row = await database
    .selectFrom("training_jobs")
    .select("id")
    .where("model_id", "=", modelId)
    .where("output_step", "=", step)
    .executeTakeFirst()
  return row?.id ?? null
}

/** How fast the newest jobs of a base model and kind were; null: no ended job tells. */
export async function trainingSpeed(
  database: CatalogDatabase,
  baseModel: string,
  kind: JobKind,
): Promise<{ jobs: number; tokensPerSecond: number } | null> {
  const metric = kind === "rl" ? "num_trainable_tokens" : "num_tokens"
  const { rows } = await sql<{ jobs: number; tokens: number; seconds: number }>`
    with newest as (
      select j.id, extract(epoch from j.ended_at - j.started_at)::float8 - j.paused_seconds as seconds from training_jobs j
      join models m on m.id = j.model_id
      where m.base_model = ${baseModel} and j.kind = ${kind} and j.status = 'succeeded' and j.started_at is not null
      order by j.sequence desc limit 5),
    counted as (
      select n.id, n.seconds, (select sum((e.data->>${metric})::float8) from training_job_events e
        where e.job_id = n.id and e.type = 'gradient_step') as tokens from newest n)
    select count(*)::int as jobs, sum(tokens) as tokens, sum(seconds) as seconds from counted where tokens > 0 and seconds > 0`.execute(
    database,
  )
  const [row] = rows
  return row === undefined || row.jobs === 0 ? null : { jobs: row.jobs, tokensPerSecond: row.tokens / row.seconds }
}
