/** Routes for what an RL job trained: groups, one trajectory down to its tokens, the same question in other jobs. */
import { teamIds } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { recordFolder } from "../../scheduler/training-records.ts"
import type { NamedJob } from "../../storage/catalog/training/training-jobs.ts"
import { jobParams } from "../../wire/training/job.ts"
import { toPage } from "../../wire/training/page.ts"
import {
  sameQuestionAnswer,
  trainedTrajectory as trainedTrajectorySchema,
  trainedTrajectoryParams,
  type TrainedGroup,
  trajectoryGroupParams,
  trajectoryGroupsAnswer,
  trajectoryGroupsQuery,
} from "../../wire/training/trained-trajectory.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { jobOf } from "../model-access.ts"
import { readSummary, recordedGroups, toGroup } from "./recorded-groups.ts"
import { trainedTrajectory } from "./recorded-tokens.ts"
import { sameQuestion } from "./same-question.ts"

/** A page of more trajectories ends early. */
const mostOfPage = 5_000

export function recordRoutes({ database, dataDir }: TrainingDependencies): Route[] {
  const folderOf = ({ modelId, id }: NamedJob) => recordFolder(dataDir, modelId, id)
  const groupOf = async (principal: Principal, jobId: string, number: number) => {
    const job = await jobOf(database, principal, jobId)
    for await (const members of recordedGroups(folderOf(job), number)) {
      if (members[0]?.group === number) return { job, members }
      break
    }
    throw await missing(job, `no group ${number}`)
  }
  /** Why something of the job is not there. */
  const missing = async (job: NamedJob, what: string) => {
    const summary = await readSummary(folderOf(job))
    if (summary !== null) return new HeddleError("not_found", `the training job "${job.id}" has ${what}`)
    return new HeddleError("not_found", `of the training job "${job.id}" ${whyNone(job)}`)
  }
  return [
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/trajectory-groups",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "List the groups that an RL job trained on, with reward and advantage of each trajectory",
      tag: "Training jobs",
      schemas: { params: jobParams, query: trajectoryGroupsQuery },
      response: trajectoryGroupsAnswer,
      handle: async ({ params, query, principal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        const summary = await readSummary(folderOf(job))
        if (summary === null) return { ...toPage([], query.limit), state: isWaiting(job) ? "waiting" : "none", summary }
        const from = query.after === undefined ? 0 : groupAfter(query.after)
        const groups: TrainedGroup[] = []
        let trajectories = 0
        let limit = query.limit
        for await (const members of recordedGroups(folderOf(job), from)) {
          groups.push(toGroup(members))
          trajectories += members.length
          if (groups.length > limit) break
          if (trajectories > mostOfPage) limit = groups.length
        }
        return { ...toPage(groups, limit), state: "kept", summary }
      },
    }),
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/trajectories/:index",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "Read a trajectory that an RL job was given: its turns, and of each token what was trained",
      tag: "Training jobs",
      schemas: { params: trainedTrajectoryParams },
      response: trainedTrajectorySchema,
      handle: async ({ params, principal }) => {
        const { job, members } = await groupOf(principal, params.training_job_id, params.group)
        const recorded = members.find(({ index }) => index === params.index)
        if (recorded === undefined) throw await missing(job, `no trajectory ${params.index} in group ${params.group}`)
        const found = await trainedTrajectory(folderOf(job), job.id, recorded)
        if (found === null) throw new HeddleError("not_found", `the turns of the training job "${job.id}" are damaged`)
        return found
      },
    }),
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/same-question",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "List the groups of the model's jobs that were asked the question of this group",
      tag: "Training jobs",
      schemas: { params: trajectoryGroupParams },
      response: sameQuestionAnswer,
      handle: async ({ params, principal }) => {
        const { job, members } = await groupOf(principal, params.training_job_id, params.group)
        const digest = members[0]?.question_digest ?? null
        if (digest === null) return { object: "list", data: [], jobs_searched: 0, is_complete: true }
        return sameQuestion(database, dataDir, { entityIds: teamIds(principal), modelId: job.modelId, digest })
      },
    }),
  ]
}

function groupAfter(after: string): number {
  if (/^\d{1,9}$/.test(after)) return Number(after) + 1
  throw new HeddleError("not_found", `after: "${after}" is no group of this job; groups are numbers, from 0`)
}

function isWaiting({ kind, status }: NamedJob): boolean {
  return kind === "rl" && (status === "queued" || status === "running" || status === "paused")
}

function whyNone(job: NamedJob): string {
  if (job.kind === "dpo") return "there are no trajectories: it learns from pairs of answers"
  if (job.kind === "sft") return "there are no trajectories: it is fine-tuning on dialogues"
  if (isWaiting(job)) return "the trajectories have not been read yet; ask again"
  return "no trajectories are kept: their time is over (limit training_record_days), or it ended before they were read"
}
