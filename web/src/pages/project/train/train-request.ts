/** From the address of the page to what the API is asked, or to what is still missing. */
import type { TrainFromBody } from "@heddle/server/wire/training/train-from.ts"
import { selectionOf } from "../../../calls/filter/filter-query.ts"
import { parseFilter } from "../../../calls/filter/filter-text.ts"
import { timeRangeOf } from "../traces/time-range.ts"
import type { TrainSearch } from "./train-search.ts"

export type TrainRequest = { body: TrainFromBody } | { missing: string }

/** `now` in milliseconds, of when the page was opened. @throws {FilterError} */
export function trainRequest(search: TrainSearch, project: string, modelId: string | null, now: number): TrainRequest {
  const source = sourceOf(search, project, now)
  if (typeof source === "string") return { missing: source }
  const score = scoreOf(search)
  if (typeof score === "string") return { missing: score }
  if (search.mode === "rl" && score.length === 0) return { missing: "Name the field that the reward is." }
  if (modelId === null) return { missing: "Choose the model that learns." }
  const rate = rateOf(search.rate)
  if (rate === null) return { missing: "The learning rate is no number above 0." }
  const group = search.group?.trim() ?? ""
  const corrections = search.fix ?? []
  const shared = { model_id: modelId, source }
  if (search.mode === "rl") {
    const target = { kind: "rl" as const, reward: score, ...(group === "" ? {} : { group_by: group }) }
    return {
      body: { ...shared, target, experimental_config: rate === undefined ? {} : { learning_rate: rate } },
    }
  }
  const target = {
    kind: "sft" as const,
    ...(score.length === 0 ? {} : { score }),
    ...(score.length === 0 || search.min === undefined ? {} : { min_score: search.min }),
    ...(corrections.length === 0 ? {} : { corrections }),
    ...(score.length === 0 || group === "" ? {} : { best_of: group }),
  }
  const config = {
    ...(rate === undefined ? {} : { learning_rate: rate }),
    ...(search.batch === undefined || search.batch < 1 ? {} : { batch_size: Math.floor(search.batch) }),
  }
  return { body: { ...shared, target, config } }
}

function sourceOf(search: TrainSearch, project_id: string, now: number): TrainFromBody["source"] | string {
  const { from, queue = "", runs = [], dataset = "", version, ids = [] } = search
  if (from === "queue") return queue === "" ? "Choose a queue." : { kind: "queue", project_id, queue_id: queue }
  if (from === "evaluation") {
    return runs.length === 0 ? "Choose an evaluation." : { kind: "evaluation", project_id, evaluation_call_ids: runs }
  }
  if (from === "dataset") {
    if (dataset === "") return "Choose a dataset."
    return { kind: "dataset", project_id, object_id: dataset, ...(version === undefined ? {} : { digest: version }) }
  }
  if (ids.length > 0) return { kind: "calls", project_id, filter: { call_ids: ids } }
  const range = timeRangeOf(search.since ?? "", search.until ?? "", now)
  const scope = { projectId: project_id, rootsOnly: search.scope !== "all", from: range.from, to: range.to }
  return { kind: "calls", project_id, ...(selectionOf(parseFilter(search.q ?? ""), scope) as object) }
}

function scoreOf({ score = [], values = [] }: TrainSearch) {
  const numbers: Record<string, number> = {}
  for (const item of values) {
    const at = item.lastIndexOf("=")
    const number = Number(item.slice(at + 1))
    if (at < 1 || item.slice(at + 1).trim() === "" || !Number.isFinite(number))
      return `“${item}” is not of the form text=number.`
    numbers[item.slice(0, at).trim()] = number
  }
  const parts = []
  for (const item of score) {
    const at = item.lastIndexOf("*")
    const field = (at === -1 ? item : item.slice(0, at)).trim()
    const weight = at === -1 ? 1 : Number(item.slice(at + 1))
    if (field === "" || !Number.isFinite(weight)) return `“${item}” is not of the form field*weight.`
    parts.push({ field, ...(weight === 1 ? {} : { weight }), ...(values.length === 0 ? {} : { values: numbers }) })
  }
  return parts
}

/** undefined: the server's own. null: no rate. */
function rateOf(text: string | undefined): number | undefined | null {
  if (text === undefined || text.trim() === "") return undefined
  const rate = Number(text)
  return Number.isFinite(rate) && rate > 0 ? rate : null
}
