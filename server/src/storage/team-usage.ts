/**
 * How many bytes each team stores, for its quota. What is written is counted in memory and added to the catalog once a
 * second, so that no write waits for it; a server that is killed forgets the last second. What is deleted in the catalog
 * is taken off; once a day, and after calls or feedback were deleted, a team's stores are measured and the count is
 * corrected.
 */
import type { Log } from "../log.ts"
import { isStoreUnavailable } from "../errors.ts"
import { outsideOfRequests } from "../work/work-scope.ts"
import type { CatalogDatabase } from "./catalog/open-catalog.ts"
import {
  addStoredBytes,
  bytesInCatalog,
  measuredTeam,
  type MeasuredTeam,
  nextToMeasure,
  storedBytes,
} from "./catalog/inference/stored-usage.ts"
import { noRoom, teamQuota } from "./catalog/accounts/team-quotas.ts"
import { DailyWork } from "./daily-work.ts"
import { bytesInTraces } from "./traces/team-bytes.ts"
import type { TraceStore } from "./traces/store/trace-store.ts"
import { sleepAtMost } from "../work/sleep.ts"

const flushMs = 1_000
/** How long a quota that another server changed may go unnoticed here, and a team may have to wait after it made room. */
const knownMs = 5_000
const refusedMs = 1_000
const maximumKnown = 10_000
/** Measuring takes at most this part of one core. */
const measuringShare = 1 / 20

interface Known {
  limit: number | null
  used: number
  /** `performance.now()`. */
  readAt: number
}

const usages = new WeakMap<CatalogDatabase | TraceStore, TeamUsage>()

/**
 * The usage counter of this store, or null if nobody counts, as in tools. Functions that write rows count them
 * themselves, so that no caller can forget it. A transaction has no counter: its writer counts after the commit.
 */
export function usageOf(store: CatalogDatabase | TraceStore): TeamUsage | null {
  return usages.get(store) ?? null
}

export class TeamUsage {
  readonly #database: CatalogDatabase
  readonly #traces: TraceStore
  readonly #log: Log
  readonly #daily: DailyWork
  readonly #closing = new AbortController()
  readonly #known = new Map<string, Known>()
  #ofProjects = new Map<string, number>()
  #ofTeams = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> = Promise.resolve()
  readonly #changed = new Set<string>()
  #measuring: Promise<void> | null = null

  constructor(database: CatalogDatabase, traces: TraceStore, log: Log) {
    this.#database = database
    this.#traces = traces
    this.#log = log
    this.#daily = new DailyWork((signal) => this.#measureAll(signal), log, "what teams store could not be measured")
    usages.set(database, this)
    usages.set(traces, this)
  }

  start(): void {
    this.#daily.start()
  }

  /** Counts bytes of a project; below 0 they are given back. */
  ofProject(projectId: string, bytes: number): void {
    this.#ofProjects.set(projectId, (this.#ofProjects.get(projectId) ?? 0) + bytes)
    this.#flushSoon()
  }

  ofTeam(entityId: string, bytes: number): void {
    this.#ofTeams.set(entityId, (this.#ofTeams.get(entityId) ?? 0) + bytes)
    this.#flushSoon()
  }

  /** Something of the team was deleted whose size nobody knows: its stores are measured soon. */
  changed(entityId: string): void {
    this.#changed.add(entityId)
    // While a store is away; the next measure of the day makes up for it.
    this.#measuring ??= outsideOfRequests(() => this.#measureChanged())
      .catch(() => undefined)
      .finally(() => (this.#measuring = null))
  }

  /** Drops the cached figures of a team that the catalog changed, such as its quota. */
  forget(entityId: string): void {
    this.#known.delete(entityId)
  }

  /** @throws {HeddleError} `quota_exceeded` when the team has no room for so many bytes, or none at all. */
  async requireRoom(entity: { id: string; name: string }, bytes = 0): Promise<void> {
    const known = this.#known.get(entity.id)
    const now = performance.now()
    if (known !== undefined && now - known.readAt < knownMs && fits(known, bytes)) return
    if (known !== undefined && now - known.readAt < refusedMs) throw refusal(entity.name, known, bytes)
    // Before anybody is refused, what was just given back is counted.
    await this.flush()
    const read = await this.#read(entity.id)
    if (!fits(read, bytes)) throw refusal(entity.name, read, bytes)
  }

  async #read(entityId: string): Promise<Known> {
    const [limit, used] = await Promise.all([
      teamQuota(this.#database, entityId, "stored_bytes"),
      storedBytes(this.#database, entityId),
    ])
    const known = { limit, used, readAt: performance.now() }
    if (this.#known.size >= maximumKnown) this.#known.clear()
    this.#known.set(entityId, known)
    return known
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
  }

  /** Adds what was counted to the catalog. What cannot be added now is tried again with the next. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => outsideOfRequests(() => this.#flush()))
    return this.#flushing
  }

  async #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#ofProjects.size + this.#ofTeams.size === 0) return
    const [ofProjects, ofTeams] = [this.#ofProjects, this.#ofTeams]
    this.#ofProjects = new Map()
    this.#ofTeams = new Map()
    try {
      for (const { entityId, bytes } of await addStoredBytes(this.#database, ofProjects, ofTeams)) {
        const known = this.#known.get(entityId)
        if (known !== undefined) known.used = bytes
      }
    } catch (error) {
      for (const [id, bytes] of ofProjects) this.ofProject(id, bytes)
      for (const [id, bytes] of ofTeams) this.ofTeam(id, bytes)
      if (!isStoreUnavailable(error))
        this.#log.error({ err: error }, "what teams store could not be counted; trying again")
    }
  }

  async #measureAll(signal: AbortSignal): Promise<void> {
    for (;;) {
      const team = await nextToMeasure(this.#database)
      if (team === null || signal.aborted) return
      await this.#measure(() => Promise.resolve(team), signal)
    }
  }

  async #measureChanged(): Promise<void> {
    const { signal } = this.#closing
    await sleepAtMost(flushMs, signal)
    for (const entityId of this.#changed) {
      if (signal.aborted) return
      this.#changed.delete(entityId)
      await this.flush()
      await this.#measure(() => measuredTeam(this.#database, entityId), signal)
    }
  }

  /** One team that cannot be measured, since it has too much for instance, does not keep the others from it. */
  async #measure(team: () => Promise<MeasuredTeam>, signal: AbortSignal): Promise<void> {
    try {
      await this.#measureGently(await team(), signal)
    } catch (error) {
      if (isStoreUnavailable(error)) throw error
      this.#log.error({ err: error }, "what a team stores could not be measured")
    }
  }

  /** Writes that come while it measures may be counted twice, or not at all, until the next measure. */
  async #measureGently({ entityId, projectIds, kept }: MeasuredTeam, signal: AbortSignal): Promise<void> {
    const began = performance.now()
    const inTraces = await bytesInTraces(this.#traces, projectIds)
    const bytes = inTraces + (await bytesInCatalog(this.#database, entityId))
    this.ofTeam(entityId, bytes - kept)
    await this.flush()
    const pause = (performance.now() - began) / measuringShare
    await sleepAtMost(pause, signal)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#daily.close(), this.#measuring])
    await this.flush()
    if (this.#timer !== null) clearTimeout(this.#timer)
    usages.delete(this.#database)
    usages.delete(this.#traces)
  }
}

function fits({ limit, used }: Known, bytes: number): boolean {
  if (limit === null) return true
  return bytes === 0 ? used < limit : used + bytes <= limit
}

function refusal(team: string, { limit, used }: Known, bytes: number): Error {
  return noRoom(team, limit ?? 0, Math.max(0, used), bytes)
}
