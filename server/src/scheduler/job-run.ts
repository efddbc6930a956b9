/**
 * The run of a model in which the metrics of its jobs are read, as the wandb client reads runs (training-api 3.5). What is
 * written there follows from the job's events in the catalog, by number: whoever goes on with a job adds what is missing.
 */
import { isStoreUnavailable } from "../errors.ts"
import { type ClaimedJob, jobStanding } from "../storage/catalog/training/job-claims.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { endOwnRunOfJob, ensureRun, type RunRecord, tellOwnRun } from "../storage/catalog/runs/runs.ts"
import { gradientSteps } from "../storage/catalog/training/training-events.ts"
import { insertJobRows, type JobPlace, jobPlace } from "../storage/traces/runs/job-rows.ts"
import type { RunKey } from "../storage/traces/runs/run-tables.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import { retryWhileUnavailable } from "../storage/retry-while-unavailable.ts"
import { meanRow, type MetricNaming, rowOf } from "./job-metrics.ts"
import type { Log } from "../log.ts"

export interface JobRunSources {
  database: CatalogDatabase
  /** null: there is no run to write to. */
  traces: TraceStore | null
  log: Log
}

/** More often than a run is taken for crashed. */
const heartbeatMs = 60_000

export class JobRun {
  readonly #sources: JobRunSources
  readonly #job: ClaimedJob
  readonly #naming: MetricNaming
  readonly #isWanted: boolean
  readonly #heartbeat: NodeJS.Timeout
  #run: RunRecord | null = null
  #place: JobPlace | null = null
  #writing: Promise<void> | null = null

  constructor(sources: JobRunSources, job: ClaimedJob) {
    this.#sources = sources
    this.#job = job
    const trainingStep = job.metricLogging?.target_training_step ?? job.lastStep + 1
    this.#naming = { kind: job.kind, trainingStep, began: job.startedAt }
    this.#isWanted = sources.traces !== null && job.userId !== null && job.metricLogging?.enabled !== false
    this.#heartbeat = setInterval(() => void this.#tell("running"), heartbeatMs).unref()
  }

  /** There are new events. Returns at once: the engine must not wait for charts. */
  note(): void {
    if (!this.#isWanted) return
    this.#writing ??= this.#write()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => (this.#writing = null))
  }

  /** Before the job ends: every gradient step is there and, where its client asked for them, the means. */
  async settle(signal: AbortSignal): Promise<void> {
    if (!this.#isWanted) return
    await this.#writing
    try {
      await retryWhileUnavailable(signal, async () => {
        await this.#write()
        if (this.#job.metricLogging?.enabled === true) await this.#writeMeans()
      })
    } catch (error) {
      // The model is worth more than its charts.
      if (isStoreUnavailable(error)) throw error
      this.#failed(error)
    }
  }

  /** Nothing works on the job here any more: it is over, or goes on later or elsewhere. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#writing
    if (!this.#isWanted) return
    const { database } = this.#sources
    try {
      const { status } = await jobStanding(database, this.#job.id)
      // A pause has left it pending, and nothing was written since.
      if (this.#run === null && status === "failed") await endOwnRunOfJob(database, this.#job.id)
      if (status === "succeeded") await this.#tell("finished")
      else if (status === "failed" || status === "cancelled") await this.#tell("failed")
      else if (status === "paused") await this.#tellPause()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** In order and from one writer, so that the last line tells which are there. */
  async #write(): Promise<void> {
    const { database, traces } = this.#sources
    if (traces === null) return
    for (;;) {
      const after = this.#place?.lastLine ?? 0
      const steps = await gradientSteps(database, this.#job.id, after)
      if (steps.length === 0) return
      const place = this.#place ?? (await this.#findPlace(traces))
      const rows = steps.filter(({ number }) => number > place.lastLine).map((step) => rowOf(step, this.#naming))
      await this.#insert(traces, rows, place)
      this.#place = { ...place, lastLine: Math.max(place.lastLine, steps.at(-1)?.number ?? 0) }
      await this.#tell("running")
    }
  }

  async #writeMeans(): Promise<void> {
    const { database, traces } = this.#sources
    const row = meanRow(await gradientSteps(database, this.#job.id, 0), this.#naming)
    if (traces !== null && row !== null && this.#place !== null) await this.#insert(traces, [row], this.#place)
  }

  async #insert(traces: TraceStore, rows: readonly ReturnType<typeof rowOf>[], { firstStep }: JobPlace): Promise<void> {
    if (rows.length > 0) await insertJobRows(traces, await this.#key(), { jobId: this.#job.id, firstStep, rows })
  }

  async #findPlace(traces: TraceStore): Promise<JobPlace> {
    return jobPlace(traces, await this.#key(), this.#job.id)
  }

  async #key(): Promise<RunKey> {
    const { projectId, runName, userId } = this.#job
    if (this.#run === null) {
      const made = { projectId, name: runName, userId: userId ?? "", displayName: runName }
      this.#run = (await ensureRun(this.#sources.database, made)).run
    }
    return { projectId, runId: this.#run.id }
  }

  /** Whoever cancels the job in between has found nothing that was pending. */
  async #tellPause(): Promise<void> {
    const { database } = this.#sources
    await this.#tell("pending")
    if ((await jobStanding(database, this.#job.id)).status === "cancelled") await this.#tell("failed")
  }

  /** Only of a run that no client has begun: the state of the others is theirs. */
  async #tell(state: "pending" | "running" | "finished" | "failed"): Promise<void> {
    if (this.#run === null) return
    await tellOwnRun(this.#sources.database, this.#run.id, state).catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    if (isStoreUnavailable(error)) return
    this.#sources.log.error({ err: error, job: this.#job.id }, "metrics of a job are not in its model's run yet")
  }
}
