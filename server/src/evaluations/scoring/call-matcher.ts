/** Matches new calls against the rules of their projects, and queues those that are to be scored. */
import { createHash } from "node:crypto"
import { HeddleError, isPassing, isRefusal } from "../../errors.ts"
import type { Log } from "../../log.ts"
import type { ArrivedCall, ArrivedCalls } from "../../storage/arrived-calls.ts"
import { matchedUpTo, type MatchedCalls, storeMatched } from "../../storage/catalog/evaluations/scoring-items.ts"
import {
  stopScoringRule,
  type WorkingRule,
  workingScoringRules,
} from "../../storage/catalog/evaluations/scoring-rules.ts"
import { retentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import { matchingAmong, endedAmong } from "../../storage/traces/calls/matching-calls.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { readDefinition, type RuleDefinition } from "./rule-definition.ts"

/** Limit on the calls remembered as seen: the start and the end of a call are two lines of the journal. */
const mostRemembered = 100_000
/** A rule that fails so many times in a row is stopped, so that the others need not wait for it. */
const mostFailures = 3

export class CallMatcher {
  readonly #dependencies: ExecutionDependencies
  readonly #arrived: ArrivedCalls
  readonly #log: Log
  #position: number | null = null
  readonly #remembered = new Set<string>()
  readonly #failures = new Map<string, number>()

  constructor(dependencies: ExecutionDependencies, arrived: ArrivedCalls, log: Log) {
    this.#dependencies = dependencies
    this.#arrived = arrived
    this.#log = log
  }

  /** Matches the next calls of the journal. false: there are no more. @throws an error that may be gone when it is called again. */
  async next(): Promise<boolean> {
    const { database } = this.#dependencies
    this.#position ??= (await matchedUpTo(database, this.#arrived.id)) ?? this.#arrived.start
    const { calls, next } = await this.#arrived.read(this.#position)
    if (next === this.#position) return false
    const seen: string[] = []
    const matches: MatchedCalls[] = []
    const byProject = Map.groupBy(calls, (call) => call.projectId)
    const working = await workingScoringRules(database, [...byProject.keys()])
    for (const [projectId, rules] of Map.groupBy(working, (rule) => rule.projectId)) {
      const ended = await this.#newlyEnded(projectId, byProject.get(projectId) ?? [])
      if (ended.size === 0) continue
      for (const id of ended.keys()) seen.push(`${projectId},${id}`)
      for (const rule of rules) {
        const found = await this.#match(rule, ended)
        if (found !== null) matches.push(found)
      }
    }
    await storeMatched(database, { journal: this.#arrived.id, position: next }, matches)
    this.#position = next
    this.#remember(seen)
    await this.#arrived.forget(next)
    return true
  }

  /** The time at which each call came, by id; calls that were matched already are left out. */
  async #newlyEnded(projectId: string, calls: readonly ArrivedCall[]): Promise<Map<string, number>> {
    const came = new Map(calls.map(({ callId, at }) => [callId, at]))
    const ids = [...came.keys()].filter((id) => !this.#remembered.has(`${projectId},${id}`))
    if (ids.length === 0) return new Map()
    const ended = await endedAmong(this.#dependencies.traces, projectId, ids)
    return new Map(ended.map((id) => [id, came.get(id) ?? Date.now()]))
  }

  /** null: the rule cannot work, and was stopped. */
  async #match(rule: WorkingRule, ended: ReadonlyMap<string, number>): Promise<MatchedCalls | null> {
    const { limits, database } = this.#dependencies
    try {
      const definition = readDefinition(rule.definition)
      const matched = await this.#matched(rule, definition, [...ended.keys()])
      const sampled = matched.filter((id) => isSampled(id, definition.samplingRate))
      const room = Math.max(0, limits.scoring_waiting_calls - rule.waiting)
      const calls = sampled.slice(0, room).map((id) => ({ id, at: ended.get(id) ?? Date.now() }))
      this.#failures.delete(rule.id)
      return {
        ruleId: rule.id,
        seen: ended.size,
        matched: matched.length,
        sampled: sampled.length,
        overflowed: sampled.length - calls.length,
        calls,
      }
    } catch (error) {
      if (isPassing(error)) throw error
      const failures = (this.#failures.get(rule.id) ?? 0) + 1
      this.#failures.set(rule.id, failures)
      if (!isRefusal(error) && failures < mostFailures) throw error
      this.#failures.delete(rule.id)
      if (!(error instanceof HeddleError)) this.#log.error({ err: error, rule: rule.id }, "a scoring rule was stopped")
      const reason = error instanceof HeddleError ? error.message : "an unexpected error; the server's log has it"
      await stopScoringRule(database, rule, `calls cannot be held against its filter: ${reason}`)
      return null
    }
  }

  async #matched(
    { projectId, projectName }: WorkingRule,
    { filter, query }: RuleDefinition,
    ids: readonly string[],
  ): Promise<string[]> {
    if (query === null && Object.keys(filter).length === 0) return [...ids]
    const { database, traces } = this.#dependencies
    const kept = await retentionDays(database, projectId)
    return matchingAmong(traces, { projectId, projectName, retentionDays: kept, filter, query }, ids)
  }

  #remember(seen: readonly string[]): void {
    for (const one of seen) this.#remembered.add(one)
    for (const one of this.#remembered) {
      if (this.#remembered.size <= mostRemembered) return
      this.#remembered.delete(one)
    }
  }
}

/** By its id alone: two rules with the same rate take the same calls, and a higher rate takes these and more. */
export function isSampled(callId: string, rate: number): boolean {
  if (rate >= 1) return true
  return createHash("sha256").update(callId).digest().readUIntBE(0, 6) / 2 ** 48 < rate
}
