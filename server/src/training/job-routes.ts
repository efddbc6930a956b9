/** Jobs as a client reads them, RL and SFT alike: row 10 of training-api 1.1, and a list. */
import { teamIds } from "../access/can.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { JobRecord } from "../storage/catalog/training/training-jobs.ts"
import { type ListedJob, listJobs } from "../storage/catalog/training/training-job-list.ts"
import { type Job, jobPage, jobParams, jobsQuery, listedJob, type ListedJob as WireJob } from "../wire/training/job.ts"
import { toPage } from "../wire/training/page.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { jobOf, noSuchJob } from "./model-access.ts"
import { secondsLeft } from "./time-left.ts"

export function jobRoutes({ database }: TrainingDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/preview/training-jobs",
      access: { right: "read", of: "teams" },
      dialect: "detail",
      summary: "List training jobs, the newest first",
      tag: "Training jobs",
      schemas: { query: jobsQuery },
      response: jobPage,
      handle: async ({ query, principal }) => {
        if (query.after !== undefined) await jobOf(database, principal, query.after)
        const { entity = null, project = null, model_id: modelId = null, status: statuses = null } = query
        const selection = { ...anyJob, entityIds: teamIds(principal), entity, project, modelId, statuses }
        const rows = await listJobs(database, { ...selection, afterId: query.after ?? null, limit: query.limit + 1 })
        return toPage(rows.map(toListedJob), query.limit)
      },
    }),
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "Read a training job",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: listedJob,
      handle: async ({ params, principal }) => {
        const { id } = await jobOf(database, principal, params.training_job_id)
        return listedJobOf(database, principal, id)
      },
    }),
  ]
}

const anyJob = { jobId: null, entity: null, project: null, modelId: null, statuses: null, afterId: null }

export async function listedJobOf(database: CatalogDatabase, principal: Principal, jobId: string): Promise<WireJob> {
  const [found] = await listJobs(database, { ...anyJob, entityIds: teamIds(principal), jobId, limit: 1 })
  if (found === undefined) throw noSuchJob(jobId)
  return toListedJob(found)
}

export function toWireJob(record: JobRecord): Job {
  const { id, kind, status, warnings } = record
  return {
    id,
    object: "training_job",
    model_id: record.modelId,
    kind,
    status,
    created_at: record.createdAt.toISOString(),
    started_at: record.startedAt?.toISOString() ?? null,
    ended_at: record.endedAt?.toISOString() ?? null,
    paused_at: record.pausedAt?.toISOString() ?? null,
    error_message: record.errorMessage,
    output_step: record.outputStep,
    warnings,
  }
}

function toListedJob(listed: ListedJob): WireJob {
  return {
    ...toWireJob(listed),
    entity: listed.entity,
    project: listed.project,
    model: listed.model,
    gradient_steps: listed.gradientSteps,
    expected_gradient_steps: listed.expectedGradientSteps,
    estimated_seconds_left: secondsLeft(listed.expectedGradientSteps, listed.gradientSteps, listed),
  }
}
