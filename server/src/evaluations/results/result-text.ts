/** Rows of evaluation results as their JSON texts, read a batch of trials at a time: evaluation-store-objects 7. */
import type { Principal } from "../../http/principal.ts"
import { type CallRow, readCallRows } from "../../storage/traces/calls/call-row-reads.ts"
import type { ResultRow } from "../../storage/traces/evaluations/result-rows.ts"
import { findTrialChildren } from "../../storage/traces/evaluations/trial-children.ts"
import type { TrialScope } from "../../storage/traces/evaluations/trials.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { reportedUsage } from "../../calls/usage/token-usage.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { resolveRows, rowDataOf } from "./row-data.ts"
import { predictCallOf, type TrialCall } from "./trial-calls.ts"
import { trialText, type TrialParts } from "./trial-text.ts"
import { openUsageCosts } from "./usage-costs.ts"

export interface ResultOptions {
  scope: TrialScope
  withRows: boolean
  resolves: boolean
  withChildren: boolean
  withCosts: boolean
  withOutputs: boolean
}

/** Trials read at once: few at first, so that the answer starts soon, then as many as these bytes hold. */
const firstTrials = 200
const mostTrials = 4_000
const bytesAtOnce = 8 * 1024 ** 2

export class ResultRows {
  readonly #dependencies: CallDependencies
  readonly #principal: Principal
  readonly #project: ProjectAccess
  readonly #options: ResultOptions
  /** Complete once all texts were read. */
  readonly warnings: string[] = []

  constructor(dependencies: CallDependencies, principal: Principal, project: ProjectAccess, options: ResultOptions) {
    this.#dependencies = dependencies
    this.#principal = principal
    this.#project = project
    this.#options = options
  }

  async *texts(rows: readonly ResultRow[]): AsyncGenerator<string[]> {
    let count = firstTrials
    for (let from = 0; from < rows.length;) {
      const some = takeRows(rows, from, count)
      from += some.length
      const trials = await this.#readTrials(some)
      yield await this.#rowTexts(some, trials)
      count = nextCount(count, trials)
    }
  }

  async #readTrials(rows: readonly ResultRow[]): Promise<Map<string, CallRow>> {
    const ids = rows.flatMap(({ trials }) => trials)
    const columns = ["inputs", "output", "attributes", "summary", "ended_at"] as const
    const calls = await readCallRows(this.#dependencies.traces, this.#project.id, ids, columns)
    return new Map(calls.map((call) => [call.id, call]))
  }

  async #rowTexts(rows: readonly ResultRow[], trials: ReadonlyMap<string, CallRow>): Promise<string[]> {
    const trialTexts = await this.#trialTexts(trials)
    const data = await this.#rowData(rows, trials)
    return rows.map((row, index) => {
      const byEvaluation = Map.groupBy(row.trials, (id) => trials.get(id)?.parent_id ?? "")
      const evaluations = this.#options.scope.evaluationIds.flatMap((evaluation) => {
        const texts = (byEvaluation.get(evaluation) ?? []).flatMap((id) => trialTexts.get(id) ?? [])
        return texts.length === 0
          ? []
          : [`{"evaluation_call_id":${JSON.stringify(evaluation)},"trials":[${texts.join(",")}]}`]
      })
      const digest = JSON.stringify(row.row_digest)
      return `{"row_digest":${digest},"raw_data_row":${data[index] ?? "null"},"evaluations":[${evaluations.join(",")}]}`
    })
  }

  async #rowData(rows: readonly ResultRow[], trials: ReadonlyMap<string, CallRow>): Promise<string[]> {
    const { withRows, resolves } = this.#options
    if (!withRows) return []
    const texts = rows.map(({ trials: [first = ""] }) => {
      const trial = trials.get(first)
      return trial === undefined ? "null" : rowDataOf(trial)
    })
    if (!resolves) return texts
    const { values, warnings } = await resolveRows(this.#dependencies, this.#principal, texts)
    this.warnings.push(...warnings)
    return texts.map((text) => values.get(text) ?? text)
  }

  /** By the id of the trial. */
  async #trialTexts(trials: ReadonlyMap<string, CallRow>): Promise<Map<string, string>> {
    const { withChildren, withCosts, withOutputs } = this.#options
    const children = withChildren || withCosts ? await this.#readChildren([...trials.keys()]) : new Map<string, never>()
    const parts = Array.from(trials.values(), (row) => ({ row, children: children.get(row.id) ?? [] }))
    const cost = withCosts ? await this.#costs(parts) : null
    return new Map(
      parts.map((one) => [
        one.row.id,
        trialText({ ...one, cost, showsChildren: withChildren, showsOutput: withOutputs }),
      ]),
    )
  }

  /** By the id of the trial they are below, oldest first. */
  async #readChildren(trialIds: readonly string[]): Promise<Map<string, TrialCall[]>> {
    const { traces } = this.#dependencies
    const found = await findTrialChildren(traces, this.#options.scope, trialIds)
    const selves = new Map(found.map(({ id, self }) => [id, self]))
    const columns = ["attributes", "summary", "ended_at"] as const
    const rows = await readCallRows(traces, this.#project.id, [...selves.keys()], columns)
    const calls = rows.map((row) => ({ row, self: selves.get(row.id) ?? null }))
    return Map.groupBy(calls, ({ row }) => row.parent_id ?? "")
  }

  #costs(parts: readonly Pick<TrialParts, "row" | "children">[]): Promise<NonNullable<TrialParts["cost"]>> {
    const usages = parts.flatMap(({ row, children }) => {
      const predict = predictCallOf(row, children)
      return predict === null ? [] : [reportedUsage(predict)]
    })
    return openUsageCosts(this.#dependencies, this.#project, usages)
  }
}

/** As many rows as have `count` trials, but one at least. */
function takeRows(rows: readonly ResultRow[], from: number, count: number): ResultRow[] {
  let to = from
  for (let trials = 0; to < rows.length && (to === from || trials < count); to++) trials += rows[to]?.trials.length ?? 0
  return rows.slice(from, to)
}

function nextCount(count: number, trials: ReadonlyMap<string, CallRow>): number {
  let bytes = 1
  for (const { inputs, output, attributes, summary } of trials.values()) {
    for (const text of [inputs, output, attributes, summary]) bytes += text?.length ?? 0
  }
  return Math.max(1, Math.min(count * 4, Math.ceil((bytesAtOnce / bytes) * trials.size), mostTrials))
}
