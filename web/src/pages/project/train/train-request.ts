/** From the address of the page to what the API is asked, or to what is still missing. */
import type { TrainFromBody } from "@heddle/server/wire/training/train-from.ts"
import { type Scope, type Selection, selectionOf } from "../../../calls/filter/filter-query.ts"
import { type Clause, parseFilter } from "../../../calls/filter/filter-text.ts"
import { timeRangeOf } from "../traces/time-range.ts"
import { numberOf } from "../typed-numbers.ts"
import { modeOf, type TrainSearch } from "./train-search.ts"

export type TrainRequest = { body: TrainFromBody } | { missing: string }

/** `now` in milliseconds, of when the page was opened. @throws {FilterError} */
export function trainRequest(search: TrainSearch, project: string, modelId: string | null, now: number): TrainRequest {
  const source = sourceOf(search, project, now)
  if (typeof source === "string") return { missing: source }
  const mode = modeOf(search)
  const target = targets[mode](search)
  if (typeof target === "string") return { missing: target }
  if (modelId === null) return { missing: "Choose the model that learns." }
  const rate = positive(search.rate)
  if (rate === null) return { missing: "The learning rate is no number above 0." }
  const shared = { model_id: modelId, source, target }
  const rates = rate === undefined ? {} : { learning_rate: rate }
  if (mode === "rl") return { body: { ...shared, experimental_config: rates } }
  const sizes = search.batch === undefined || search.batch < 1 ? {} : { batch_size: Math.floor(search.batch) }
  return { body: { ...shared, config: { ...rates, ...sizes } } }
}

type Target = TrainFromBody["target"]

/** A text says what is missing. */
const targets: Record<"sft" | "rl" | "dpo", (search: TrainSearch) => Target | string> = {
  sft: sftTarget,
  rl: rlTarget,
  dpo: dpoTarget,
}

function sftTarget(search: TrainSearch): Target | string {
  const score = scoreOf(search)
  if (typeof score === "string") return score
  const { min, fix = [] } = search
  const group = search.group?.trim() ?? ""
  return {
    kind: "sft",
    ...(score.length === 0 ? {} : { score }),
    ...(score.length === 0 || min === undefined ? {} : { min_score: min }),
    ...(fix.length === 0 ? {} : { corrections: fix }),
    ...(score.length === 0 || group === "" ? {} : { best_of: group }),
  }
}

function rlTarget(search: TrainSearch): Target | string {
  const reward = scoreOf(search)
  if (typeof reward === "string") return reward
  if (reward.length === 0) return "Name the field that the reward is."
  const group = search.group?.trim() ?? ""
  return { kind: "rl", reward, ...(group === "" ? {} : { group_by: group }) }
}

function dpoTarget(search: TrainSearch): Target | string {
  const pairs = pairsOf(search)
  if (typeof pairs === "string") return pairs
  const beta = positive(search.beta)
  if (beta === null) return "Beta is no number above 0."
  return {
    kind: "dpo",
    pairs,
    ...(beta === undefined ? {} : { beta }),
    ...(search.reference === undefined ? {} : { reference: search.reference }),
  }
}

function pairsOf(search: TrainSearch): Extract<Target, { kind: "dpo" }>["pairs"] | string {
  const { pairs, vote, chosen, rejected } = search
  if (pairs === "vote") return { from: "vote", ...(vote === undefined ? {} : { field: vote }) }
  if (pairs === "fields") {
    if (chosen === undefined && rejected === undefined) return "Name a field with the better or the worse answer."
    return {
      from: "fields",
      ...(chosen === undefined ? {} : { chosen }),
      ...(rejected === undefined ? {} : { rejected }),
    }
  }
  const score = scoreOf(search)
  if (typeof score === "string") return score
  return score.length === 0 ? "Name the field that tells the better answer." : { from: "score", score }
}

function sourceOf(search: TrainSearch, project_id: string, now: number): TrainFromBody["source"] | string {
  const { from, queue = "", runs = [], dataset = "", version, ids = [] } = search
  if (from === "rollouts") return rolloutsOf(search, project_id, now)
  if (from === "queue") return queue === "" ? "Choose a queue." : { kind: "queue", project_id, queue_id: queue }
  if (from === "evaluation") {
    return runs.length === 0 ? "Choose an evaluation." : { kind: "evaluation", project_id, evaluation_call_ids: runs }
  }
  if (from === "dataset") {
    if (dataset === "") return "Choose a dataset."
    return { kind: "dataset", project_id, object_id: dataset, ...(version === undefined ? {} : { digest: version }) }
  }
  if (ids.length > 0) return { kind: "calls", project_id, filter: { call_ids: ids } }
  const scope = scopeOf(search, project_id, now)
  return { kind: "calls", project_id, ...(selectionOf(parseFilter(search.q ?? ""), scope) as object) }
}

function scopeOf({ since = "", until = "", scope }: TrainSearch, projectId: string, now: number): Scope {
  const { from, to } = timeRangeOf(since, until, now)
  return { projectId, rootsOnly: scope !== "all", from, to }
}

/** Of calls as the source those that anything was said of. @throws {FilterError} */
export function toldCalls(search: TrainSearch, projectId: string, now: number): Selection {
  const told: Clause = { field: "feedback", operator: "exists", values: [] }
  const { ids = [], q = "" } = search
  if (ids.length === 0) return selectionOf([...parseFilter(q), told], scopeOf(search, projectId, now))
  return { ...selectionOf([told], { projectId, rootsOnly: false }), filter: { call_ids: ids } }
}

function rolloutsOf(search: TrainSearch, project_id: string, now: number): TrainFromBody["source"] {
  const { rollouts = [], rolloutGroup, step, queue = "", since = "", until = "" } = search
  const range = timeRangeOf(since, until, now)
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
  return {
    kind: "rollouts",
    project_id,
    ...(rollouts.length === 0 ? {} : { rollout_ids: rollouts }),
    ...(rolloutGroup === undefined ? {} : { group: rolloutGroup }),
    ...(step === undefined ? {} : { step }),
    ...(range.from === undefined ? {} : { since: iso(range.from) }),
    ...(range.to === undefined ? {} : { until: iso(range.to) }),
    ...(queue === "" ? {} : { queue_id: queue }),
  }
}

function scoreOf({ score = [], values = [] }: TrainSearch) {
  const numbers: Record<string, number> = {}
  for (const item of values) {
    const at = item.lastIndexOf("=")
    const number = numberOf(item.slice(at + 1))
    if (at < 1 || number === undefined) return `“${item}” is not of the form text=number.`
    numbers[item.slice(0, at).trim()] = number
  }
  const parts = []
  for (const item of score) {
    const at = item.lastIndexOf("*")
    const field = (at === -1 ? item : item.slice(0, at)).trim()
    const weight = at === -1 ? 1 : numberOf(item.slice(at + 1))
    if (field === "" || weight === undefined) return `“${item}” is not of the form field*weight.`
    parts.push({ field, ...(weight === 1 ? {} : { weight }), ...(values.length === 0 ? {} : { values: numbers }) })
  }
  return parts
}

/** undefined: the server's own. null: none above 0. */
function positive(text: string | undefined): number | undefined | null {
  if (text === undefined || text.trim() === "") return undefined
  const number = numberOf(text)
  return number !== undefined && number > 0 ? number : null
}
