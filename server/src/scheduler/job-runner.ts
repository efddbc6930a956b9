/** Runs one claimed job through the engine and says how it went; what follows is the scheduler's. */
import { mkdir, rm } from "node:fs/promises"
import path from "node:path"
import type { Log } from "../log.ts"
import { type Engine, type EngineEvent, EngineFailure } from "../engines/engine.ts"
import { isStoreUnavailable } from "../errors.ts"
import type { ClaimedJob, JobLease } from "../storage/catalog/training/job-claims.ts"
import {
  addWarning,
  appendEvents,
  finishJob,
  type FinishResult,
  type NewEvent,
} from "../storage/catalog/training/job-progress.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { TrainResult } from "../wire/engine/train.ts"
import { usageOf } from "../storage/team-usage.ts"
import { retryWhileUnavailable } from "../storage/retry-while-unavailable.ts"
import { JobFailure } from "./job-failure.ts"
import type { JobRun } from "./job-run.ts"
import { type JobSources, type JobSpec, jobSpec } from "./job-spec.ts"
import { moveFor } from "./job-states.ts"

export interface RunnerSettings extends JobSources {
  engine: Engine
  log: Log
  /** How long a job waits for the engine to take calls. */
  engineWaitMs: number
}

/** `not_begun`: what it needs could not be read or made. `lease_lost`: another server holds the job now, or it was cancelled or paused. */
export type JobOutcome =
  | { kind: "finished" }
  | { kind: "failed"; message: string }
  | { kind: "engine_lost"; reason: string }
  | { kind: "not_begun"; reason: string }
  | { kind: "model_deleted" }
  | { kind: "lease_lost" }

export async function runJob(
  settings: RunnerSettings,
  job: ClaimedJob,
  owner: string,
  signal: AbortSignal,
  run: JobRun,
): Promise<JobOutcome> {
  let spec: JobSpec
  try {
    spec = await retryWhileUnavailable(signal, () => prepare(settings, job))
  } catch (error) {
    if (isStoreUnavailable(error)) throw error
    return outcomeOf(error) ?? { kind: "not_begun", reason: (error as Error).message }
  }
  try {
    return await train({ settings, job, lease: { jobId: job.id, owner }, spec, run }, signal)
  } catch (error) {
    const outcome = outcomeOf(error)
    if (outcome === null) throw error
    return outcome
  }
}

async function prepare(settings: RunnerSettings, job: ClaimedJob): Promise<JobSpec> {
  // The filled data file lies beside it.
  await mkdir(path.join(settings.dataDir, "jobs"), { recursive: true })
  const spec = await jobSpec(settings, job)
  // A folder without a row is what a crash between the engine's rename and our commit leaves behind.
  await rm(spec.params.output.path, { recursive: true, force: true })
  await mkdir(spec.params.work_dir, { recursive: true })
  return spec
}

interface Training {
  settings: RunnerSettings
  job: ClaimedJob
  lease: JobLease
  spec: JobSpec
  run: JobRun
}

async function train({ settings, job, lease, spec, run }: Training, signal: AbortSignal): Promise<JobOutcome> {
  const { database, engine } = settings
  await engine.ready(settings.engineWaitMs)
  const { warning } = spec
  if (warning !== null) await retryWhileUnavailable(signal, () => addWarning(database, lease, warning))
  const stop = new AbortController()
  const call = engine.call("train", spec.params, AbortSignal.any([signal, stop.signal]))
  try {
    for await (const batch of call.events) {
      if (!(await retryWhileUnavailable(signal, () => record(settings, lease, batch)))) return { kind: "lease_lost" }
      run.note()
    }
    const result = await call.result
    await run.settle(signal)
    return finishOutcomes[await retryWhileUnavailable(signal, () => finish(database, lease, job, spec, result))]
  } finally {
    stop.abort()
    // The engine must have let go of the work folder before anyone removes it.
    await call.result.catch(() => undefined)
  }
}

const finishOutcomes: Record<FinishResult, JobOutcome> = {
  finished: { kind: "finished" },
  lease_lost: { kind: "lease_lost" },
  model_deleted: { kind: "model_deleted" },
  step_taken: { kind: "engine_lost", reason: "the model got another checkpoint while the job ran" },
}

/** false: the lease is lost. */
async function record(settings: RunnerSettings, lease: JobLease, batch: EngineEvent<"train">[]): Promise<boolean> {
  const events: NewEvent[] = []
  for (const event of batch) {
    if (event.event === "warning") await addWarning(settings.database, lease, event.data.message)
    else events.push(toEvent(event))
  }
  return events.length === 0 || appendEvents(settings.database, lease, events)
}

function toEvent(event: Exclude<EngineEvent<"train">, { event: "warning" }>): NewEvent {
  if (event.event === "training_started") {
    return {
      sequence: 0,
      type: "training_started",
      data: { num_sequences: event.data.num_sequences },
    }
  }
  const { number, metrics } = event.data
  for (const [name, value] of Object.entries(metrics)) {
    // A client converts every value to a float and crashes on what is none (training-api 3.1).
    if (!Number.isFinite(value))
      throw new JobFailure(`gradient step ${number}: the metric ${name} is ${value}, not a finite number`)
  }
  return { sequence: number, type: "gradient_step", data: metrics }
}

async function finish(
  database: CatalogDatabase,
  lease: JobLease,
  job: ClaimedJob,
  spec: JobSpec,
  result: TrainResult,
): Promise<FinishResult> {
  const data = Object.entries(result.data_metrics).map(([name, value]) => [`data/${name}`, value] as const)
  const fromRequest = job.config.kind === "rl" ? job.config.checkpoint_metrics : {}
  const finished = await finishJob(database, moveFor("finish"), lease, {
    modelId: job.modelId,
    step: spec.step,
    path: spec.outputPath,
    sizeBytes: result.size_bytes,
    manifestSha256: result.manifest_sha256,
    metrics: { ...Object.fromEntries(data), ...fromRequest },
  })
  if (finished === "finished") usageOf(database)?.ofProject(job.projectId, result.size_bytes)
  return finished
}

/** null: nothing that belongs to the job or the engine, such as a catalog that does not answer. */
function outcomeOf(error: unknown): JobOutcome | null {
  if (error instanceof JobFailure) return { kind: "failed", message: error.message }
  if (error instanceof EngineFailure) {
    const { kind, message } = error
    return kind === "unavailable" || kind === "cancelled"
      ? { kind: "engine_lost", reason: message }
      : { kind: "failed", message: worded(error) }
  }
  const { code } = error as NodeJS.ErrnoException
  if (code === "ENOSPC" || code === "EDQUOT") {
    return { kind: "failed", message: `the disk is full: ${(error as Error).message}` }
  }
  return null
}

const wordings: Partial<Record<EngineFailure["kind"], string>> = {
  out_of_memory: "the engine ran out of memory",
  disk_full: "the disk is full",
  internal: "a defect in the engine, whose log says more",
}

function worded({ kind, message }: EngineFailure): string {
  const prefix = wordings[kind]
  return prefix === undefined ? message : `${prefix}: ${message}`
}
