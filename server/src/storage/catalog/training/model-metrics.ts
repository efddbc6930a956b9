/**
 * Metrics of models by step. A step has those of its checkpoint, and those of the gradient steps of the job that made it.
 * Steps that were deleted count too: what the model learned does not change with what is kept of it.
 */
import { type RawBuilder, sql } from "kysely"
import type { CurvePoint } from "../../../wire/training/model-metrics.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isStorable, storableMembers } from "../storable-text.ts"
import { rowsOf } from "../text-lists.ts"

export interface MetricSelection {
  modelIds: readonly string[]
  metrics: readonly string[]
  firstStep: number
  lastStep: number
  stepsPerPoint: number
}

export interface MetricPoint extends CurvePoint {
  modelId: string
}

/** Points by model, metric and step. */
export async function metricPoints(database: CatalogDatabase, selection: MetricSelection): Promise<MetricPoint[]> {
  const { metrics, firstStep, lastStep, stepsPerPoint } = selection
  const isWanted = sql`m.key in (select * from ${rowsOf(metrics.filter(isStorable))})`
  const { rows } = await sql<MetricPoint>`
    with steps as (
      select model_id, step, created_at, ${storableMembers(sql`metrics`)} as metrics, job_id from checkpoints
      where model_id in ${idsOf(selection)} and step between ${firstStep} and ${lastStep}),
    "values" as (
      select s.model_id, s.step, s.created_at, m.key as metric, m.value::float8 as value
      from steps s, json_each_text(s.metrics) m where ${isWanted}
      union all
      select s.model_id, s.step, s.created_at, m.key, m.value::float8
      from steps s join training_job_events e on e.job_id = s.job_id and e.type = 'gradient_step',
        json_each_text(e.data) m where ${isWanted}),
    by_step as (
      select model_id, metric, step, (step - ${firstStep}::int) / ${stepsPerPoint}::int as point,
        max(created_at) as at, min(value) as min, max(value) as max, sum(value) as sum, count(*) as count
      from "values" group by model_id, metric, step)
    select model_id as "modelId", metric, max(step) as step, max(at) as at, min(min) as min, max(max) as max,
      sum(sum) / sum(count) as mean, (array_agg(sum / count order by step desc))[1] as last
    from by_step group by model_id, metric, point order by model_id, metric, step`.execute(database)
  return rows
}

/**
 * Which metrics models have, by model and name. Gradient steps of a job all have the same ones, so its first is asked; but
 * each of reinforcement learning has those that its own rows give.
 */
export async function metricNames(
  database: CatalogDatabase,
  modelIds: readonly string[],
): Promise<{ modelId: string; metric: string }[]> {
  const { rows } = await sql<{ modelId: string; metric: string }>`
    select c.model_id as "modelId", k.name as metric
    from checkpoints c, json_object_keys(${storableMembers(sql`c.metrics`)}) k(name) where c.model_id in ${idsOf({ modelIds })}
    union
    select c.model_id, k.name
    from checkpoints c
      join training_job_events e on e.job_id = c.job_id and e.sequence = 1 and e.type = 'gradient_step',
      json_object_keys(e.data) k(name)
    where c.model_id in ${idsOf({ modelIds })}
    union
    select c.model_id, k.name
    from checkpoints c
      join training_jobs j on j.id = c.job_id and j.kind = 'rl'
      join training_job_events e on e.job_id = j.id and e.type = 'gradient_step',
      json_object_keys(e.data) k(name)
    where c.model_id in ${idsOf({ modelIds })}
    order by 1, 2`.execute(database)
  return rows
}

/** The newest step that any of these models has or had. */
export async function newestStep(database: CatalogDatabase, modelIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ step: number | null }>`
    select max(step) as step from checkpoints where model_id in ${idsOf({ modelIds })}`.execute(database)
  return rows[0]?.step ?? 0
}

function idsOf({ modelIds }: Pick<MetricSelection, "modelIds">): RawBuilder<unknown> {
  return sql`(select value::uuid from ${rowsOf(modelIds)} as ids(value))`
}
