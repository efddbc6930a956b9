/**
 * Scores new calls beside everything else: one loop holds what came against the rules, another gives rules their turns.
 * Neither is awaited by a request. Servers that share a catalog share the queue: a rule is one server's for a turn.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { HeddleError, isRefusal, isStoreUnavailable } from "../../errors.ts"
import type { Log } from "../../log.ts"
import type { ArrivedCalls } from "../../storage/arrived-calls.ts"
import {
  claimScoringRule,
  type ClaimedRule,
  endScoringTurn,
  freeScoringLeases,
  renewScoringLeases,
  type WorkedItems,
} from "../../storage/catalog/evaluations/scoring-items.ts"
import {
  forgetDeletedMonitors,
  projectsWithScoring,
  stopScoringRule,
} from "../../storage/catalog/evaluations/scoring-rules.ts"
import { retryWhileUnavailable } from "../../storage/retry-while-unavailable.ts"
import { hasRoom } from "../../access/project-access.ts"
import { inScope, outsideOfRequests } from "../../work/work-scope.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { workPrincipal } from "../execution/jobs/work-principal.ts"
import { readDefinition } from "./rule-definition.ts"
import { takeTurn } from "./rule-turn.ts"
import { CallMatcher } from "./call-matcher.ts"
import { sleepAtMost } from "../../work/sleep.ts"

const turnsAtOnce = 3
/** The rest is for others: a judge may take minutes. */
const mostOfTeam = turnsAtOnce - 1
const leaseSeconds = 30
const tickMs = 2_000
/** Between two looks at what came, so that a busy server asks its store about many calls at once. */
const matchEveryMs = 1_000
const closeWaitMs = 5_000

export interface ScoringOptions {
  log: Log
  /** No other server shares the catalog. */
  exclusive: boolean
}

const nothingDone: WorkedItems = {
  done: [],
  later: [],
  errors: [],
  scored: 0,
  failed: 0,
  overBudget: 0,
  judgeCalls: 0,
  tokens: 0,
}

export class ScoringLoop {
  readonly #dependencies: ExecutionDependencies
  readonly #arrived: ArrivedCalls
  readonly #options: ScoringOptions
  readonly #matcher: CallMatcher
  readonly #closing = new AbortController()
  /** By lease. */
  readonly #turns = new Map<string, { controller: AbortController; done: Promise<void> }>()
  #wakeTurns: () => void = () => undefined
  #wakeMatching: () => void = () => undefined
  #loops: Promise<void>[] = []

  constructor(dependencies: ExecutionDependencies, arrived: ArrivedCalls, options: ScoringOptions) {
    this.#dependencies = dependencies
    this.#arrived = arrived
    this.#options = options
    this.#matcher = new CallMatcher(dependencies, arrived, options.log)
  }

  async start(): Promise<void> {
    if (this.#options.exclusive) await freeScoringLeases(this.#dependencies.database)
    await this.watch()
    this.#dependencies.writer.tell((batches) => this.#arrived.note(batches))
    this.#arrived.tell(() => this.#wakeMatching())
    this.#loops = [outsideOfRequests(() => this.#match()), outsideOfRequests(() => this.#give())]
  }

  /** Call it when a rule was made, changed or deleted: calls that come from now on are held against it. */
  async watch(): Promise<void> {
    this.#arrived.watch(new Set(await projectsWithScoring(this.#dependencies.database)))
    this.#wakeTurns()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wakeMatching()
    this.#wakeTurns()
    const ended = Promise.all([...this.#loops, ...Array.from(this.#turns.values(), ({ done }) => done)])
    await Promise.race([ended, sleep(closeWaitMs, undefined, { ref: false })])
  }

  async #match(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.#wakeMatching = resolve))
      const found = await this.#trying("new calls could not be held against scoring rules", () => this.#matchAll())
      if (found === true) this.#wakeTurns()
      await this.#rest(woken, tickMs)
      await this.#rest(null, matchEveryMs)
    }
  }

  /** Whether there were any. */
  async #matchAll(): Promise<boolean> {
    let hasFound = false
    while (!this.#closing.signal.aborted && (await this.#matcher.next())) hasFound = true
    return hasFound
  }

  async #give(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.#wakeTurns = resolve))
      await this.#trying("the queue of scoring rules could not be read", () => this.#look())
      await this.#rest(woken, tickMs)
    }
  }

  async #look(): Promise<void> {
    const { database } = this.#dependencies
    if (this.#turns.size > 0) await this.#renew()
    await forgetDeletedMonitors(database)
    this.#arrived.watch(new Set(await projectsWithScoring(database)))
    while (!this.#closing.signal.aborted && this.#turns.size < turnsAtOnce) {
      const held = [...this.#turns.keys()]
      const rule = await claimScoringRule(database, { lease: randomUUID(), leaseSeconds, held, mostOfTeam })
      if (rule === null) return
      this.#begin(rule)
    }
  }

  /** Stops the turns of rules that were deleted, paused or stopped, and those whose lease was lost. */
  async #renew(): Promise<void> {
    const turns = [...this.#turns]
    const leases = turns.map(([lease]) => lease)
    const working = await renewScoringLeases(this.#dependencies.database, leases, leaseSeconds)
    for (const [lease, { controller }] of turns) if (!working.has(lease)) controller.abort()
  }

  #begin(rule: ClaimedRule): void {
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, this.#closing.signal])
    // It takes its turns as its user's work; nobody waits for it, so it must not be refused.
    const scope = { userId: rule.userId, teamId: rule.userId, signal: null }
    const done = inScope(scope, () => this.#turn(rule, signal)).finally(() => {
      this.#turns.delete(rule.lease)
      this.#wakeTurns()
    })
    this.#turns.set(rule.lease, { controller, done })
  }

  async #turn(rule: ClaimedRule, signal: AbortSignal): Promise<void> {
    const { database } = this.#dependencies
    try {
      const worked = await this.#work(rule, signal)
      // The calls of a team that is full wait; its lease runs out first, so that it is not looked at all the time.
      if (worked === null) return
      // Also of a turn that was stopped: what it has asked is paid.
      await retryWhileUnavailable(this.#closing.signal, () => endScoringTurn(database, rule, worked))
    } catch (error) {
      // Its lease is not prolonged any more; once that has run out, somebody takes up its calls again.
      if (!isStoreUnavailable(error))
        this.#options.log.error(
          { err: error, rule: rule.id },
          "a turn of a scoring rule broke off; it will be begun again",
        )
    }
  }

  /** null: there is no room for scores. */
  async #work(rule: ClaimedRule, signal: AbortSignal): Promise<WorkedItems | null> {
    const { log } = this.#options
    const { database } = this.#dependencies
    try {
      const { principal, project } = await workPrincipal(database, rule).catch(notWithTheseRights(rule))
      if (!(await hasRoom(database, project))) return null
      const definition = readDefinition(rule.definition)
      return await takeTurn(this.#dependencies, {
        rule,
        definition,
        principal,
        project,
        log,
        signal,
      })
    } catch (error) {
      if (signal.aborted) return nothingDone
      if (!isRefusal(error)) throw error
      await stopScoringRule(database, rule, error.message)
      return nothingDone
    }
  }

  async #trying<T>(failure: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!isStoreUnavailable(error)) this.#options.log.error({ err: error }, `${failure}; trying again`)
      return null
    }
  }

  async #rest(woken: Promise<void> | null, ms: number): Promise<void> {
    const rest = new AbortController()
    const signal = AbortSignal.any([rest.signal, this.#closing.signal])
    const slept = sleepAtMost(ms, signal)
    await (woken === null ? slept : Promise.race([woken, slept]))
    rest.abort()
  }
}

function notWithTheseRights({ isMonitor }: ClaimedRule): (error: unknown) => never {
  return (error) => {
    if (!isRefusal(error)) throw error
    const way = isMonitor ? "Publish the monitor again with a key of the scope all" : "Change the rule"
    const message = `it worked with the rights of who made or changed it last, which they have lost: ${error.message}. ${way} to let it go on with yours`
    throw new HeddleError(error.code, message, { ...error.details, cause: error })
  }
}
