/** From a claimed job to the engine's `train` parameters. */
import { rm } from "node:fs/promises"
import path from "node:path"
import { adapterRef, outputKey } from "../engines/adapter-ref.ts"
import type { EngineParams } from "../engines/engine.ts"
import { type CheckpointRecord, findCheckpoint, listCheckpoints } from "../storage/catalog/training/checkpoints.ts"
import type { ClaimedJob } from "../storage/catalog/training/job-claims.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { KlReference } from "../wire/training/job.ts"
import { JobFailure } from "./job-failure.ts"
import { jobOrigin, type JobOrigin, type OriginCheckpoint, originFolder } from "./job-origin.ts"
import { fillLedger, type FindLedgerEntries } from "./ledger-fill.ts"
import { recordFolder } from "./training-records.ts"

/** training-api 7.6. */
const lora = { rank: 8, alpha: 16, seed: 3407 }

export interface JobSpec {
  params: EngineParams<"train">
  /** The step the job makes, and its folder relative to the data folder. */
  step: number
  outputPath: string
  /** A remark for the user on how the job starts. */
  warning: string | null
}

export interface JobSources {
  database: CatalogDatabase
  dataDir: string
  findLedgerEntries: FindLedgerEntries
}

/** @throws {JobFailure} when the KL reference is gone. */
export async function jobSpec({ database, dataDir, findLedgerEntries }: JobSources, job: ClaimedJob): Promise<JobSpec> {
  const { start, reference } = await jobOrigin(dataDir, job.id, () => findOrigin(database, job))
  const step = job.lastStep + 1
  const outputPath = checkpointPath(job.modelId, step)
  const { kind, engine } = job.config
  const sent = { path: path.join(dataDir, job.dataPath), sha256: job.dataSha256 }
  const find = (keys: string[]) => findLedgerEntries(job.projectId, keys)
  const data = kind === "rl" ? await fillLedger(sent, filledData(dataDir, job.id), find) : sent
  return {
    step,
    outputPath,
    warning: start?.isAdapterOnly === true ? startsAfresh(start.step) : null,
    params: {
      job_id: job.id,
      base: { name: job.baseModel, path: job.basePath },
      lora,
      start: start && adapterRef(dataDir, start.modelId, start),
      reference: reference && adapterRef(dataDir, reference.modelId, reference),
      data,
      job: { kind, config: engine } as EngineParams<"train">["job"],
      work_dir: workFolder(dataDir, job.id),
      ...(kind === "rl" && { record_dir: recordFolder(dataDir, job.modelId, job.id) }),
      output: { key: outputKey(job.modelId, step), path: path.join(dataDir, outputPath) },
    },
  }
}

function startsAfresh(step: number): string {
  return (
    `step ${step}, from which this job starts, no longer has its optimizer's state, which only a model's newest ` +
    "checkpoints keep; the optimizer starts afresh"
  )
}

async function findOrigin(database: CatalogDatabase, job: ClaimedJob): Promise<JobOrigin> {
  const { modelId } = job
  const [start] = await listCheckpoints(database, modelId, { afterStep: null, order: "desc", limit: 1 })
  const reference = await klReference(database, job, start?.step ?? 0)
  return { start: start === undefined ? null : { modelId, ...filesOf(start) }, reference }
}

function filesOf({ step, path: folder, manifestSha256, isAdapterOnly }: CheckpointRecord) {
  return { step, path: folder, manifestSha256, isAdapterOnly }
}

async function klReference(
  database: CatalogDatabase,
  job: ClaimedJob,
  currentStep: number,
): Promise<OriginCheckpoint | null> {
  const wanted = job.config.kl_reference
  if (wanted === null) return null
  const modelId = "model_id" in wanted ? wanted.model_id : job.modelId
  const step = referenceStep(wanted, currentStep)
  const found = await findCheckpoint(database, modelId, step)
  if (found !== null) return { modelId, ...filesOf(found) }
  throw new JobFailure(`the KL reference, step ${step} of model ${modelId}, was deleted before the job began`)
}

/** training-api 2.2: a lag counts back from the step the job starts from. */
function referenceStep(reference: NonNullable<KlReference>, currentStep: number): number {
  return "lag" in reference ? Math.max(0, currentStep - reference.lag) : reference.step
}

/** Relative to the data folder. */
function checkpointPath(modelId: string, step: number): string {
  return `checkpoints/${modelId}/step_${String(step).padStart(6, "0")}`
}

/** The job's data with the token ledger's entries in it. */
function filledData(dataDir: string, jobId: string): string {
  return path.join(dataDir, "jobs", `${jobId}.data.jsonl`)
}

/** Removes the checkpoint that the engine may have written before it learned that the job was cancelled. */
export async function removeUnlisted(dataDir: string, job: ClaimedJob): Promise<void> {
  await rm(path.join(dataDir, checkpointPath(job.modelId, job.lastStep + 1)), { recursive: true, force: true })
}

/** Removes all that a job that has ended leaves besides its checkpoint. */
export async function removeJobFiles(dataDir: string, jobId: string): Promise<void> {
  const origin = path.join(dataDir, originFolder(jobId))
  const files = [
    origin,
    `${origin}.tmp`,
    workFolder(dataDir, jobId),
    filledData(dataDir, jobId),
    `${filledData(dataDir, jobId)}.partial`,
  ]
  await Promise.all(files.map((file) => rm(file, { recursive: true, force: true })))
}

function workFolder(dataDir: string, jobId: string): string {
  return path.join(dataDir, "jobs", jobId)
}
