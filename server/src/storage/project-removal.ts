/**
 * Removes what is stored under the ids of deleted projects. A deletion takes a project out of sight at once; its row stays
 * and says what is left to do, so that a server which is killed goes on at its next start.
 *
 * Requests that had the id already may store something after the deletion. So each deleted project is looked at again
 * every hour for a day, and then forgotten.
 */
import type { Log } from "../log.ts"
import { isStoreUnavailable } from "../errors.ts"
import { outsideOfRequests } from "../work/work-scope.ts"
import { isBlobReferenced } from "./catalog/files/blob-references.ts"
import {
  type DeletedProject,
  deletedProjects,
  forgetProject,
  modelsOfDeletedProject,
  removeModelRows,
  removeProjectRows,
  type RemovedRows,
} from "./catalog/accounts/deleted-projects.ts"
import type { Stores } from "./open-stores.ts"
import { usageOf } from "./team-usage.ts"
import { removeProjectRows as removeTraceRows } from "./traces/project-rows.ts"
import { sleepAtMost } from "../work/sleep.ts"

/** As long as an orphaned blob stays: no request takes longer. */
const lateMs = 24 * 60 * 60 * 1000
const lookAgainMs = 60 * 60 * 1000
/** While a job or a request keeps something from being removed, or a store is away. */
const waitMs = 1_000
const mostWaitMs = 60_000

export interface ProjectRemovalOptions {
  stores: Pick<Stores, "catalog" | "traces" | "blobs">
  log: Log
  /** Removes the files of a model that no request uses; false: one does, and the files are still there. */
  removeModelFiles: (modelId: string) => Promise<boolean>
  removeJobFiles: (jobId: string) => Promise<void>
}

export class ProjectRemoval {
  readonly #options: ProjectRemovalOptions
  readonly #closing = new AbortController()
  #pause = new AbortController()
  #isWoken = false
  #loop: Promise<void> | null = null

  constructor(options: ProjectRemovalOptions) {
    this.#options = options
  }

  start(): void {
    this.#loop ??= outsideOfRequests(() => this.#run())
  }

  /** Call it after a project was deleted. */
  wake(): void {
    this.start()
    this.#isWoken = true
    this.#pause.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#pause.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    let wait = waitMs
    while (!signal.aborted) {
      this.#isWoken = false
      const isDone = await this.#look().catch((error: unknown) => {
        if (!isStoreUnavailable(error)) {
          this.#options.log.error({ err: error }, "what deleted projects held could not be removed; trying again")
        }
        return false
      })
      wait = isDone || this.#isWoken ? waitMs : Math.min(wait * 2, mostWaitMs)
      await this.#rest(isDone ? lookAgainMs : wait)
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#isWoken || this.#closing.signal.aborted) return
    this.#pause = new AbortController()
    await sleepAtMost(ms, this.#pause.signal)
  }

  /** Whether all is removed that is there now. */
  async #look(): Promise<boolean> {
    const { catalog, traces } = this.#options.stores
    const { signal } = this.#closing
    const projects = await deletedProjects(catalog)
    const inTraces = await removeTraceRows(
      traces,
      projects.map(({ id }) => id),
    )
    let isDone = true
    for (const project of projects) {
      if (signal.aborted) return true
      const { removed, isWhole } = await this.#remove(project)
      if (inTraces || removed > 0) usageOf(catalog)?.changed(project.entityId)
      if (removed > 0) this.#options.log.info({ project: project.id, rows: removed }, "a deleted project was removed")
      if (!isWhole) isDone = false
      else if (!signal.aborted && project.deletedAt.getTime() < Date.now() - lateMs) {
        await forgetProject(catalog, project)
      }
    }
    return isDone
  }

  async #remove(project: DeletedProject): Promise<{ removed: number; isWhole: boolean }> {
    const { stores, removeModelFiles, removeJobFiles } = this.#options
    const { signal } = this.#closing
    let removed = await this.#count(removeProjectRows(stores.catalog, project, signal))
    let isWhole = true
    for (const { id, jobIds, isWorkedOn } of await modelsOfDeletedProject(stores.catalog, project)) {
      if (signal.aborted) break
      // Files first: the rows are how the next start would find them.
      if (isWorkedOn || !(await removeModelFiles(id))) {
        isWhole = false
        continue
      }
      for (const jobId of jobIds) await removeJobFiles(jobId)
      removed += await this.#count(removeModelRows(stores.catalog, id, signal))
    }
    return { removed, isWhole }
  }

  /** A blob whose row is gone when the server is killed is found by the collector of blobs. */
  async #count(rows: AsyncGenerator<RemovedRows>): Promise<number> {
    const { catalog, blobs } = this.#options.stores
    let removed = 0
    for await (const { count, blobs: named } of rows) {
      removed += count
      for (const sha256 of named) await blobs.removeUnless(sha256, () => isBlobReferenced(catalog, sha256))
    }
    return removed
  }
}
