/**
 * Does the work that requests left to the server, and sees each job to its end (law 7): servers share
 * the queue through leases, one that stops gives its jobs back, and a job that a crash cut goes on
 * where it was. What a job has done already it tells by the ids of what it stored.
 */
import type { Log } from "../../../log.ts"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { HeddleError, isRefusal, isStoreUnavailable } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import {
  claimExecutionJob,
  type ClaimedExecutionJob,
  endExecutionJob,
  reclaimExecutionJobs,
  releaseExecutionJob,
  renewExecutionLeases,
  storeExecutionJob,
} from "../../../storage/catalog/evaluations/execution-jobs.ts"
import type { ExecutionJobKind } from "../../../storage/catalog/evaluations/execution-jobs-schema.ts"
import type { CatalogDatabase } from "../../../storage/catalog/open-catalog.ts"
import { retryWhileUnavailable } from "../../../storage/retry-while-unavailable.ts"
import { Semaphore } from "../../../work/semaphore.ts"
import { inScope } from "../../../work/work-scope.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import { revoked, workPrincipal } from "./work-principal.ts"
import { sleepAtMost } from "../../../work/sleep.ts"

export interface JobContext {
  jobId: string
  principal: Principal
  project: ProjectAccess
  /** JSON. */
  request: string
  signal: AbortSignal
  /** Limits the concurrent questions to models. */
  models: Semaphore
}

export interface JobKind {
  /** Does what is left of it. A {@link HeddleError} below 500 ends the job, anything else after some beginnings. */
  run: (context: JobContext) => Promise<void>
  /** Records that the job ended in failure; must be repeatable. */
  fail?: (context: JobContext, reason: string) => Promise<void>
}

export interface JobRunnerOptions {
  database: CatalogDatabase
  kinds: Readonly<Record<ExecutionJobKind, JobKind>>
  log: Log
  /** true: no other server shares the catalog, so leases found at start belong to the dead. */
  exclusive: boolean
}

const concurrency = 3
/** The rest is for others: the jobs of one team may take days. */
const mostOfTeam = concurrency - 1
const maximumAttempts = 3
/** Concurrent questions of one job: enough to be decoded together, few enough for an external service. */
const questionsAtOnce = 8
const leaseSeconds = 60
const tickMs = 2_000
const closeWaitMs = 5_000

interface RunningJob {
  job: ClaimedExecutionJob
  controller: AbortController
  done: Promise<void>
}

export class JobRunner {
  readonly #options: JobRunnerOptions
  /** By lease. */
  readonly #running = new Map<string, RunningJob>()
  /** Resolved when the job has ended here. */
  readonly #ends = new Map<string, () => void>()
  #closed = false
  #wake: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(options: JobRunnerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await reclaimExecutionJobs(this.#options.database, this.#options.exclusive)
    this.#loop = this.#run()
  }

  /** Stored when it resolves. */
  async add(
    kind: ExecutionJobKind,
    id: string,
    principal: Principal,
    project: ProjectAccess,
    request: object,
  ): Promise<void> {
    const { userId, apiKeyId } = principal
    const job = { id, kind, projectId: project.id, userId, apiKeyId, request: JSON.stringify(request) }
    await storeExecutionJob(this.#options.database, job)
    this.#wake()
  }

  /** Resolves when the job has ended on this server, when the server stops, or after `ms`. */
  async ended(id: string, ms: number): Promise<void> {
    if (this.#closed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ends.set(id, resolve)
    await Promise.race([promise, sleep(ms, undefined, { ref: false })])
    this.#ends.delete(id)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const resolve of this.#ends.values()) resolve()
    this.#wake()
    await this.#loop
    for (const { controller } of this.#running.values()) controller.abort()
    const parked = Promise.all(Array.from(this.#running.values(), ({ done }) => done))
    await Promise.race([parked, sleep(closeWaitMs, undefined, { ref: false })])
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      try {
        await this.#look()
      } catch (error) {
        if (!isStoreUnavailable(error))
          this.#options.log.error({ err: error }, "the queue of executions could not be read; trying again")
      }
      const tick = new AbortController()
      await Promise.race([woken, sleepAtMost(tickMs, tick.signal)])
      tick.abort()
    }
  }

  async #look(): Promise<void> {
    const { database } = this.#options
    if (this.#running.size > 0) await this.#renew()
    await reclaimExecutionJobs(database, false)
    while (!this.#closed && this.#running.size < concurrency) {
      const held = [...this.#running.keys()]
      const job = await claimExecutionJob(database, { lease: randomUUID(), leaseSeconds, held, mostOfTeam })
      if (job === null) return
      this.#begin(job)
    }
  }

  /** Stops jobs whose lease was lost, and those that their users may not do any more. */
  async #renew(): Promise<void> {
    const { database } = this.#options
    const running = [...this.#running]
    const renewed = await renewExecutionLeases(database, Array.from(this.#running.keys()), leaseSeconds)
    for (const [lease, { job, controller }] of running) {
      if (!renewed.has(lease)) controller.abort()
      else await workPrincipal(database, job).catch((error: unknown) => controller.abort(lostRights(error)))
    }
  }

  #begin(job: ClaimedExecutionJob): void {
    const controller = new AbortController()
    // It takes its turns as its user's work; nobody waits for it, so it must not be refused.
    const scope = { userId: job.userId, teamId: job.userId, signal: null }
    const done = inScope(scope, () => this.#see(job, controller.signal)).finally(() => {
      this.#running.delete(job.lease)
      this.#ends.get(job.id)?.()
      this.#wake()
    })
    this.#running.set(job.lease, { job, controller, done })
  }

  async #see(job: ClaimedExecutionJob, signal: AbortSignal): Promise<void> {
    const { database, log } = this.#options
    try {
      const reason = await this.#outcome(job, signal)
      await retryWhileUnavailable(signal, () =>
        isStopped(signal) ? releaseExecutionJob(database, job.lease) : endExecutionJob(database, job.lease, reason),
      )
    } catch (error) {
      // Its lease is not prolonged any more; once that has run out, the job is claimed again.
      if (!isStoreUnavailable(error))
        log.error({ err: error, job: job.id }, "an execution broke off; it will be begun again")
    }
  }

  /** null: all is done; else why it failed. @throws what may be gone when the job is begun again. */
  async #outcome(job: ClaimedExecutionJob, signal: AbortSignal): Promise<string | null> {
    const { kinds, log } = this.#options
    const kind = kinds[job.kind]
    let context: JobContext | null = null
    try {
      const jobContext = await retryWhileUnavailable(signal, () => this.#contextOf(job, signal))
      context = jobContext
      if (job.attempts > maximumAttempts)
        throw new HeddleError("internal_error", `the server stopped ${maximumAttempts} times while it did this`)
      // It holds its lease meanwhile, and none of its beginnings is used up.
      await retryWhileUnavailable(signal, () => kind.run(jobContext))
      return null
    } catch (thrown) {
      if (isStopped(signal)) return null
      const error: unknown = signal.aborted ? signal.reason : thrown
      const known = error instanceof HeddleError
      // A store that is away for a while must not fail what took hours.
      if (!isRefusal(error) && job.attempts < maximumAttempts) throw error
      if (!known) log.error({ err: error, job: job.id }, "an execution failed")
      const reason = known ? error.message : "an unexpected error; the server's log has it under this job's id"
      const failed = context
      if (failed !== null) await retryWhileUnavailable(signal, async () => kind.fail?.(failed, reason))
      return reason
    }
  }

  async #contextOf(job: ClaimedExecutionJob, signal: AbortSignal): Promise<JobContext> {
    const { principal, project } = await workPrincipal(this.#options.database, job)
    return { jobId: job.id, principal, project, request: job.request, signal, models: new Semaphore(questionsAtOnce) }
  }
}

/** @throws what says nothing about rights. */
function lostRights(error: unknown): HeddleError {
  if (!isRefusal(error)) throw error
  // That a project is not found is said to strangers; the user of the job knows it.
  return error.code === "forbidden" ? error : revoked()
}

/** The server stops or has lost the lease, and the job is not to blame; else a signal's reason is why the job fails. */
function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof HeddleError)
}
