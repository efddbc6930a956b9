/** Jobs and their events, RL and SFT alike: rows 10 and 11 of training-api 1.1, a list, and cancelling one. */
import { teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { moveFor } from "../scheduler/job-states.ts"
import { removeJobFiles } from "../scheduler/job-spec.ts"
import { audited } from "../storage/catalog/audit-logs.ts"
import { cancelJob } from "../storage/catalog/job-progress.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { JobRecord } from "../storage/catalog/training-jobs.ts"
import { type ListedJob, listJobs } from "../storage/catalog/training-job-list.ts"
import { type EventRecord, listEvents, sequenceOfEvent } from "../storage/catalog/training-events.ts"
import {
  eventPage,
  type Event,
  type Job,
  jobPage,
  jobParams,
  jobsQuery,
  listedJob,
  type ListedJob as WireJob,
} from "../wire/training/job.ts"
import { pageQuery, toPage } from "../wire/training/page.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { jobOf, noSuchJob } from "./model-access.ts"

export function jobRoutes({ database, dataDir, wakeScheduler }: TrainingDependencies): Route[] {
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
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/:training_job_id/cancel",
      access: { right: "write", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "Cancel a training job; its model stays at the newest step it has",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: listedJob,
      handle: async ({ params, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        const cancelled = await audited(database, principal, async (transaction, record) => {
          const reason = `cancelled by ${principal.username}`
          const done = await cancelJob(transaction, moveFor("cancel"), job.id, reason)
          const { entity: team, project, model } = job
          const entry = {
            type: "training_job.cancelled",
            team,
            resourceId: job.id,
            details: { project, model },
          } as const
          if (done !== null) await record(entry)
          return done
        })
        wakeScheduler()
        if (cancelled?.isHeld === false) await removeJobFiles(dataDir, job.id)
        return listedJobOf(database, principal, job.id)
      },
    }),
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/events",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "List a job's events, oldest first",
      tag: "Training jobs",
      schemas: { params: jobParams, query: pageQuery },
      response: eventPage,
      handle: async ({ params, query, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        const after = query.after === undefined ? -1 : await sequenceOfEvent(database, job.id, query.after)
        if (after === null) throw new HeddleError("not_found", `after: "${query.after}" is no event of this job`)
        const events = await listEvents(database, job.id, after, query.limit + 1)
        return toPage(events.map(toWireEvent), query.limit)
      },
    }),
  ]
}

const anyJob = { jobId: null, entity: null, project: null, modelId: null, statuses: null, afterId: null }

async function listedJobOf(database: CatalogDatabase, principal: Principal, jobId: string): Promise<WireJob> {
  const [found] = await listJobs(database, { ...anyJob, entityIds: teamIds(principal), jobId, limit: 1 })
  if (found === undefined) throw noSuchJob(jobId)
  return toListedJob(found)
}

function toWireEvent({ createdAt, ...event }: EventRecord): Event {
  return { ...event, created_at: createdAt.toISOString() }
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
  }
}
