/** Other jobs of a model that asked it the same question, as long as their records are kept. */
import { stat } from "node:fs/promises"
import path from "node:path"
import { recordFolder } from "../../scheduler/training-records.ts"
import { listJobs } from "../../storage/catalog/training/training-job-list.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { RecordedTrajectory } from "../../wire/engine/training-record.ts"
import type { SameQuestion, SameQuestionAnswer } from "../../wire/training/trained-trajectory.ts"
import { wholeLines } from "./record-lines.ts"
import { toGroup } from "./recorded-groups.ts"

/** Limit on the jobs that one request reads; the newest come first. */
const mostJobs = 200
const mostBytes = 64 * 1024 ** 2

interface GroupSearch {
  entityIds: string[]
  modelId: string
  digest: string
}

/** The newest job first; the job that asks is among them. */
export async function sameQuestion(
  database: CatalogDatabase,
  dataDir: string,
  { entityIds, modelId, digest }: GroupSearch,
): Promise<SameQuestionAnswer> {
  const selection = { jobId: null, entity: null, project: null, statuses: null, afterId: null }
  const jobs = await listJobs(database, { ...selection, entityIds, modelId, limit: mostJobs + 1 })
  const data: SameQuestion[] = []
  let read = 0
  let searched = 0
  for (const job of jobs.slice(0, mostJobs)) {
    const file = path.join(recordFolder(dataDir, modelId, job.id), "trajectories.jsonl")
    read += await stat(file).then(
      ({ size }) => size,
      () => 0,
    )
    if (read > mostBytes) break
    searched += 1
    for (const group of await matchingGroups(file, digest)) {
      data.push({
        training_job_id: job.id,
        created_at: job.createdAt.toISOString(),
        output_step: job.outputStep,
        ...group,
      })
    }
  }
  return { object: "list", data, jobs_searched: searched, is_complete: searched === jobs.length }
}

async function matchingGroups(file: string, digest: string) {
  const groups = new Map<number, RecordedTrajectory[]>()
  for await (const line of wholeLines(file)) {
    if (!line.includes(digest)) continue
    const trajectory = JSON.parse(line) as RecordedTrajectory
    if (trajectory.question_digest !== digest) continue
    groups.set(trajectory.group, [...(groups.get(trajectory.group) ?? []), trajectory])
  }
  return [...groups.values()].map((members) => {
    const { group, mean_reward, reward_std_dev, has_contrast, trajectories } = toGroup(members)
    const rewards = trajectories.map(({ index, reward }) => ({ index, reward }))
    return { group, mean_reward, reward_std_dev, has_contrast, trajectories: rewards }
  })
}
