/** Cancelling, pausing and resuming a training job. Each may be sent again: what is so already stays so. */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { moveFor } from "../scheduler/job-states.ts"
import { removeJobFiles } from "../scheduler/job-spec.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { cancelJob, pauseJob, resumeJob } from "../storage/catalog/training/job-progress.ts"
import type { NamedJob } from "../storage/catalog/training/training-jobs.ts"
import { jobParams, listedJob, type ListedJob as WireJob } from "../wire/training/job.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { listedJobOf } from "./job-routes.ts"
import { jobOf } from "./model-access.ts"

export function jobStateRoutes({ database, dataDir, wakeScheduler }: TrainingDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/:training_job_id/cancel",
      access: { right: "write", of: "training job path.training_job_id", train: true },
      dialect: "detail",
      summary: "Cancel a training job; its model stays at the newest step it has",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: listedJob,
      handle: async ({ params, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        const reason = `cancelled by ${principal.username}`
        const cancelled = await changed(database, principal, "training_job.cancelled", job, (transaction) =>
          cancelJob(transaction, moveFor("cancel"), job.id, reason),
        )
        wakeScheduler()
        if (cancelled?.isHeld === false) await removeJobFiles(dataDir, job.id)
        return listedJobOf(database, principal, job.id)
      },
    }),
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/:training_job_id/pause",
      access: { right: "write", of: "training job path.training_job_id", train: true },
      dialect: "detail",
      summary: "Pause a training job; it keeps its place, and others run",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: listedJob,
      handle: async ({ params, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        await changed(database, principal, "training_job.paused", job, (transaction) =>
          pauseJob(transaction, moveFor("pause"), job.id),
        )
        wakeScheduler()
        return openJob(await listedJobOf(database, principal, job.id), "paused")
      },
    }),
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/:training_job_id/resume",
      access: { right: "write", of: "training job path.training_job_id", train: true },
      dialect: "detail",
      summary: "Resume a paused training job",
      tag: "Training jobs",
      schemas: { params: jobParams },
      response: listedJob,
      handle: async ({ params, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        await changed(database, principal, "training_job.resumed", job, (transaction) =>
          resumeJob(transaction, moveFor("resume"), job.id),
        )
        wakeScheduler()
        return openJob(await listedJobOf(database, principal, job.id), "resumed")
      },
    }),
  ]
}

type ChangeType = "training_job.cancelled" | "training_job.paused" | "training_job.resumed"

/** What `change` says; false and null: it changed nothing, of which there is no entry in the record. */
async function changed<T>(
  database: CatalogDatabase,
  principal: Principal,
  type: ChangeType,
  { id: resourceId, entity: team, project, model }: NamedJob,
  change: (transaction: CatalogDatabase) => Promise<T>,
): Promise<T> {
  return audited(database, principal, async (transaction, record) => {
    const done = await change(transaction)
    if (done !== null && done !== false) await record({ type, team, resourceId, details: { project, model } })
    return done
  })
}

/** @throws {HeddleError} 409 when it has ended. */
function openJob(job: WireJob, wanted: "paused" | "resumed"): WireJob {
  if (job.ended_at === null) return job
  throw new HeddleError(
    "conflict",
    `the training job "${job.id}" has ended (${job.status}) and cannot be ${wanted}; make a new job, ` +
      "which goes on from the model's newest step",
  )
}
