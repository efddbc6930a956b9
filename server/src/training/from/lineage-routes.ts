/** What each row of a job was made of; and which steps learnt from a call, a label or a row of a dataset. */
import { teamIds } from "../../access/can.ts"
import { existingProject } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { findTrainingSource, jobOfStep, jobsOfSources } from "../../storage/catalog/training/training-sources.ts"
import type { NamedJob } from "../../storage/catalog/training/training-jobs.ts"
import { findTrainingUses, readTrainingRows, type TrainingRowRecord } from "../../storage/traces/training-rows.ts"
import { checkpointParams } from "../../wire/training/checkpoint.ts"
import { jobParams } from "../../wire/training/job.ts"
import { toPage } from "../../wire/training/page.ts"
import {
  type TrainingRow,
  trainingRowsAnswer,
  trainingRowsQuery,
  trainingUses,
  trainingUsesBody,
} from "../../wire/training/train-from.ts"
import { stepNamed } from "../checkpoint-access.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { jobOf, modelOf } from "../model-access.ts"

/** Rows of one answer about uses. */
const mostUses = 1000
/** How the number of a row is written in its id. */
const rowId = /^\d{1,10}$/

export function lineageRoutes(dependencies: TrainingDependencies): Route[] {
  const { database, traces } = dependencies
  const shared = { dialect: "detail", tag: "Training jobs" } as const
  return [
    route({
      ...shared,
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/rows",
      access: { right: "read", of: "training job path.training_job_id" },
      summary: "List what a job from calls, labels or scores was trained on, row by row",
      schemas: { params: jobParams, query: trainingRowsQuery },
      response: trainingRowsAnswer,
      handle: async ({ params, query, principal }) =>
        rowsOf(dependencies, principal, await jobOf(database, principal, params.training_job_id), query),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/preview/models/:model_id/checkpoints/:step/rows",
      access: { right: "read", of: "model path.model_id" },
      summary: "List what made a checkpoint, row by row",
      schemas: { params: checkpointParams, query: trainingRowsQuery },
      response: trainingRowsAnswer,
      handle: async ({ params, query, principal }) => {
        const model = await modelOf(database, principal, params.model_id)
        const jobId = await jobOfStep(database, model.id, await stepNamed(database, model, params.step))
        if (jobId === null)
          throw new HeddleError("not_found", `no job made step ${params.step} of the model "${model.id}"`)
        return rowsOf(dependencies, principal, await jobOf(database, principal, jobId), query)
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/preview/training-rows/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Find the jobs and steps that learnt from calls, feedback or rows of datasets",
      schemas: { body: trainingUsesBody },
      response: trainingUses,
      handle: async ({ body, principal }) => {
        const project = await existingProject(database, principal, body.project_id)
        const { call_ids, feedback_ids, row_digests, rollout_ids } = body
        const things = {
          callIds: call_ids ?? [],
          feedbackIds: feedback_ids ?? [],
          rowDigests: row_digests ?? [],
          rolloutIds: rollout_ids ?? [],
        }
        const found = await findTrainingUses(traces, project.id, things, mostUses + 1)
        const sources = [...new Set(found.map(({ source_id }) => source_id))]
        const jobs = await jobsOfSources(database, teamIds(principal), sources)
        const uses = found.slice(0, mostUses).flatMap(({ source_id, ...row }) => {
          const job = jobs.get(source_id)
          return job === undefined ? [] : [{ ...rowFields(row), ...jobFields(job) }]
        })
        return { uses, is_complete: found.length <= mostUses }
      },
    }),
  ]
}

async function rowsOf(
  { database, traces }: TrainingDependencies,
  principal: Principal,
  job: NamedJob,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  const source = await findTrainingSource(database, job.id)
  if (source === null)
    return { ...toPage<TrainingRow>([], limit), project_id: null, source: null, target: null, summary: null }
  const { project_id } = source.request.source
  const project = await existingProject(database, principal, project_id, "read")
  if (after !== undefined && !rowId.test(after)) {
    throw new HeddleError("not_found", `after: "${after}" is no row of this job; rows are numbers, from 0`)
  }
  const from = after === undefined ? -1 : Number(after)
  const rows = await readTrainingRows(traces, { projectId: source.projectId, sourceId: source.id }, from, limit + 1)
  const page = toPage(
    rows.map((row): TrainingRow => ({ id: String(row.row), ...rowFields(row) })),
    limit,
  )
  return { ...page, project_id: project.name, ...source.request, summary: source.summary }
}

function rowFields({ call_id, row_digest, rollout_id, ...row }: TrainingRowRecord) {
  const orNull = (text: string) => (text === "" ? null : text)
  return { ...row, call_id: orNull(call_id), row_digest: orNull(row_digest), rollout_id: orNull(rollout_id) }
}

function jobFields({ id, status, modelId, model, outputStep, createdAt }: NamedJob) {
  return {
    training_job_id: id,
    status,
    model_id: modelId,
    model,
    output_step: outputStep,
    created_at: createdAt.toISOString(),
  }
}
