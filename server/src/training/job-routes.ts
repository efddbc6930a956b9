/** Rows 10 and 11 of training-api 1.1: reading jobs and their events, RL and SFT alike. */
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import type { JobRecord } from "../storage/catalog/training-jobs.ts"
import { listEvents, sequenceOfEvent } from "../storage/catalog/training-events.ts"
import { eventPage, type Job, job as jobSchema, jobParams } from "../wire/training/job.ts"
import { pageQuery, toPage } from "../wire/training/page.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { jobOf } from "./model-access.ts"

export function jobRoutes({ database }: TrainingDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id",
      access: "key",
      dialect: "detail",
      summary: "Read a training job",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: jobSchema,
      handle: async ({ params, principal }) => toWireJob(await jobOf(database, principal, params.training_job_id)),
    }),
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/events",
      access: "key",
      dialect: "detail",
      summary: "List a job's events, oldest first",
      tag: "Training jobs",
      schemas: { params: jobParams, query: pageQuery },
      response: eventPage,
      handle: async ({ params, query, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        const after = query.after === undefined ? -1 : await sequenceOfEvent(database, job.id, query.after)
        if (after === null) throw new HeddleError("not_found", `after: "${query.after}" is no event of this job`)
        return toPage(await listEvents(database, job.id, after, query.limit + 1), query.limit)
      },
    }),
  ]
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
