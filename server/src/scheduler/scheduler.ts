/**
 * Claims training jobs and sees each to its end (law 7). Servers share the queue through leases in
 * the catalog: one that dies loses its leases, and another, or its own next start, goes on with them.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Log } from "../log.ts"
import { type Engine, jobsPerEngine } from "../engines/engine.ts"
import { isStoreUnavailable } from "../errors.ts"
import {
  claimJob,
  type ClaimedJob,
  jobsOfDeletedModels,
  heldJobs,
  type JobLease,
  jobStanding,
  letGo,
  reclaimJobs,
  releaseJob,
  renewLeases,
} from "../storage/catalog/training/job-claims.ts"
import { cancelJob, failJob } from "../storage/catalog/training/job-progress.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { retryWhileUnavailable } from "../storage/retry-while-unavailable.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import { JobRun } from "./job-run.ts"
import { type JobOutcome, runJob, type RunnerSettings } from "./job-runner.ts"
import { removeJobFiles, removeUnlisted } from "./job-spec.ts"
import { removeOrphans } from "./orphans.ts"
import type { FindLedgerEntries } from "./ledger-fill.ts"
import { moveFor } from "./job-states.ts"
import { pruneOptimizerStates } from "./optimizer-states.ts"

export interface SchedulerOptions {
  database: CatalogDatabase
  engine: Engine
  dataDir: string
  /** Store for the runs of models, or null to record none. */
  traces: TraceStore | null
  /** Finds the token ledger's entries for a project's completions. */
  findLedgerEntries: FindLedgerEntries
  log: Log
  /** Names this server process for ever: it goes into leases. */
  owner: string
  /** true: no other server shares the catalog, so leases found at start belong to the dead. */
  exclusive: boolean
  /** Jobs at a time on each engine. */
  concurrency?: number
  leaseSeconds?: number
  /** Beginnings without progress after which a job fails. */
  maximumAttempts?: number
  engineWaitMs?: number
  /** Newest checkpoints of a model that keep their optimizer's state. */
  keptOptimizerStates?: number
  /** Before a job goes back to the queue after its first lost engine; doubles with each further one. */
  retryPauseMs?: number
}

/** How long `close` waits for the engine to let go of jobs; their leases then tell the next start. */
const closeWaitMs = 5_000
const longestPauseMs = 5_000
/** Without a wake-up, how soon work inserted by another server is seen. */
const sharedTickMs = 1_000
const exclusiveTickMs = 5_000

interface RunningJob {
  controller: AbortController
  done: Promise<void>
}

export class Scheduler {
  readonly #options: Required<SchedulerOptions>
  readonly #runner: RunnerSettings
  readonly #running = new Map<string, RunningJob>()
  #closed = false
  #wake: () => void = () => undefined
  #woken = false
  #loop: Promise<void> = Promise.resolve()
  #nextRenewal = 0
  /** A claim was not answered: a job may be ours that nobody here runs. */
  #mayHoldMore = false

  constructor(options: SchedulerOptions) {
    this.#options = {
      concurrency: jobsPerEngine,
      leaseSeconds: 30,
      maximumAttempts: 5,
      engineWaitMs: 60_000,
      keptOptimizerStates: 2,
      retryPauseMs: 250,
      ...options,
    }
    this.#runner = this.#options
  }

  /** Takes back what a dead server held and removes what it left, then begins to claim. */
  async start(): Promise<void> {
    const { database, dataDir, exclusive, log } = this.#options
    await reclaimJobs(database, moveFor("lease_lost"), exclusive)
    await removeOrphans(database, dataDir).catch((error: unknown) =>
      log.error({ err: error }, "files of ended jobs and deleted checkpoints could not be removed"),
    )
    this.#loop = this.#run()
  }

  /** Call it after a job was stored, cancelled, paused or resumed, or a model was deleted: the queue is looked at now. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  /** Stops claiming, parks what runs so that it resumes from its last gradient step. */
  async close(): Promise<void> {
    this.#closed = true
    this.wake()
    await this.#loop
    for (const job of this.#running.values()) job.controller.abort()
    const parked = Promise.all([...this.#running.values()].map((job) => job.done))
    await Promise.race([parked, sleep(closeWaitMs, undefined, { ref: false })])
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#woken = false
      try {
        await this.#look()
      } catch (error) {
        if (!isStoreUnavailable(error))
          this.#options.log.error({ err: error }, "the job queue could not be read; trying again")
      }
      await this.#nextLook()
    }
  }

  /** One look at the queue. */
  async #look(): Promise<void> {
    const { database, exclusive, owner, leaseSeconds } = this.#options
    await this.#cancelDeleted()
    if (this.#mayHoldMore) await this.#giveUnknownBack()
    await this.#keepLeases()
    if (!exclusive) await reclaimJobs(database, moveFor("lease_lost"), false)
    while (!this.#closed && this.#running.size < this.#mostJobs()) {
      // One that lost its lease and is still stopping here must not run twice.
      this.#mayHoldMore = true
      const job = await claimJob(database, moveFor("claim"), owner, leaseSeconds, [...this.#running.keys()])
      this.#mayHoldMore = false
      if (job === null) return
      this.#begin(job)
    }
  }

  /** Those that wait for an engine take no place of one that is there. */
  #mostJobs(): number {
    const { engines, waiting } = this.#options.engine.jobPlaces()
    return engines === 0 ? 0 : this.#options.concurrency * engines + waiting
  }

  #nextLook(): Promise<void> {
    if (this.#woken) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.exclusive ? exclusiveTickMs : sharedTickMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #giveUnknownBack(): Promise<void> {
    const { database, owner } = this.#options
    for (const jobId of await heldJobs(database, owner)) {
      if (!this.#running.has(jobId)) await releaseJob(database, moveFor("engine_lost"), { jobId, owner }, true)
    }
    this.#mayHoldMore = false
  }

  /** Prolongs the leases when that is due, and stops the jobs that were cancelled or paused or that another server took. */
  async #keepLeases(): Promise<void> {
    const { database, owner, leaseSeconds } = this.#options
    if (this.#running.size === 0) return
    const began = performance.now()
    if (began >= this.#nextRenewal) {
      await renewLeases(database, owner, [...this.#running.keys()], leaseSeconds)
      // Not before: leases that ran out while the catalog was away are prolonged before they are taken for a dead server's.
      this.#nextRenewal = began + (leaseSeconds * 1000) / 3
    }
    const held = new Set(await heldJobs(database, owner))
    for (const [id, job] of this.#running) if (!held.has(id)) job.controller.abort()
  }

  /** A deleted model's jobs end at once (training-api 4.2). */
  async #cancelDeleted(): Promise<void> {
    const { database, dataDir } = this.#options
    for (const jobId of await jobsOfDeletedModels(database)) {
      const reason = "the model was deleted before the job had ended"
      const cancelled = await cancelJob(database, moveFor("cancel"), jobId, reason)
      if (cancelled?.isHeld === false) await removeJobFiles(dataDir, jobId)
    }
  }

  #begin(job: ClaimedJob): void {
    const controller = new AbortController()
    const done = this.#see(job, controller.signal).finally(() => {
      this.#running.delete(job.id)
      this.wake()
    })
    this.#running.set(job.id, { controller, done })
  }

  async #see(job: ClaimedJob, signal: AbortSignal): Promise<void> {
    const { owner, log } = this.#options
    log.info({ job: job.id, model: job.modelId, attempt: job.attempts }, "training job begins")
    const run = new JobRun(this.#options, job)
    try {
      const outcome = await runJob(this.#runner, job, owner, signal, run)
      log.info({ job: job.id, outcome }, "training job ends")
      await retryWhileUnavailable(signal, () => this.#conclude(job, outcome))
    } catch (error) {
      const isAway = isStoreUnavailable(error)
      if (!isAway) log.error({ err: error, job: job.id }, "a training job could not be recorded; giving it back")
      await this.#giveBack(job, isAway ? null : (error as Error).message)
    } finally {
      await run.close()
    }
  }

  /**
   * The catalog may be unable to write, on a full disk for instance; the job is ours until it can. `reason`: what kept it from
   * being recorded, which ends a job that meets it each time; null: a store was away, and the job is not to blame.
   */
  async #giveBack(job: ClaimedJob, reason: string | null): Promise<void> {
    const { database, log, owner } = this.#options
    const lease = { jobId: job.id, owner }
    for (let pause = this.#options.retryPauseMs; !this.#closed; pause = Math.min(pause * 2, longestPauseMs)) {
      await sleep(pause, undefined, { ref: false })
      try {
        if (reason === null) await releaseJob(database, moveFor("engine_lost"), lease, true)
        else await this.#tryAgain(lease, "the job could not be recorded", reason)
        return await this.#leave(job)
      } catch (error) {
        if (!isStoreUnavailable(error))
          log.error({ err: error, job: job.id }, "a training job could not be given back; trying again")
      }
    }
  }

  async #conclude(job: ClaimedJob, outcome: JobOutcome): Promise<void> {
    const { database, owner } = this.#options
    const lease = { jobId: job.id, owner }
    if (outcome.kind === "engine_lost") await this.#tryAgain(lease, "the engine was lost", outcome.reason)
    if (outcome.kind === "not_begun") await this.#tryAgain(lease, "the job could not begin", outcome.reason)
    if (outcome.kind === "failed") await failJob(database, moveFor("fail"), lease, outcome.message)
    if (outcome.kind === "model_deleted") await this.#cancelDeleted()
    await this.#leave(job)
  }

  /** Nothing works on the job here any more. One that is still open goes on from its snapshots, here or elsewhere. */
  async #leave(job: ClaimedJob): Promise<void> {
    const { database, dataDir, keptOptimizerStates, log, owner } = this.#options
    const standing = await jobStanding(database, job.id)
    if (standing.status === "running") return
    // Only a cancelled or paused job still has its lease; until that ends, no job of the model writes to this folder.
    if (standing.owner === owner) await removeUnlisted(dataDir, job)
    if (standing.open) {
      await letGo(database, { jobId: job.id, owner })
      // Whoever ended it until then left its files to the holder of the lease.
      if (!(await jobStanding(database, job.id)).open) await removeJobFiles(dataDir, job.id)
      return
    }
    await removeJobFiles(dataDir, job.id)
    await letGo(database, { jobId: job.id, owner })
    await pruneOptimizerStates(database, dataDir, job, keptOptimizerStates).catch((error: unknown) =>
      log.error({ err: error, model: job.modelId }, "states of optimizers stay until the model's next job ends"),
    )
  }

  /** Back to the queue after a pause; after too many beginnings without a new gradient step, the end. */
  async #tryAgain(lease: JobLease, what: string, reason: string): Promise<void> {
    const { database, maximumAttempts, retryPauseMs } = this.#options
    if (this.#closed) return releaseJob(database, moveFor("engine_lost"), lease, true)
    const { attempts } = await jobStanding(database, lease.jobId)
    if (attempts >= maximumAttempts) {
      await failJob(database, moveFor("fail"), lease, `${what} ${attempts} times without progress; last: ${reason}`)
      return
    }
    await sleep(retryPauseMs * 2 ** (attempts - 1), undefined, { ref: false })
    await releaseJob(database, moveFor("engine_lost"), lease, false)
  }
}
