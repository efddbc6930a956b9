/** Plan for reading rows and mapping them. It is sent to threads, so it holds values only. */
import { invalid } from "../../errors.ts"
import { splitPath } from "../../storage/traces/query/sql-value.ts"
import type {
  DpoTarget,
  ScorePart,
  TrainFromBody,
  TrainingRollouts,
  TrainingTarget,
} from "../../wire/training/train-from.ts"

/** Source of a field's text: the call, its queue or evaluation, or its dataset row. */
export type FieldPlace =
  | { name: string; from: "line"; at: number }
  | { name: string; from: "extra"; at: string }
  | { name: string; from: "row"; at: string[] }

export interface PlannedScore {
  place: FieldPlace
  weight: number
  values: Record<string, number>
  /** null: a row without the field is left out. */
  missing: number | null
}

export type PlannedPairs =
  | { from: "score" }
  /** Ids of calls, as a list, and the verdict. */
  | { from: "vote"; over: FieldPlace; value: FieldPlace }
  /** null: the row's own answer. */
  | { from: "fields"; chosen: FieldPlace | null; rejected: FieldPlace | null }

export interface RowPlan {
  kind: TrainingTarget["kind"]
  /** True if the source is a dataset's rows. */
  ofDataset: boolean
  /** True if the source is rollouts. */
  ofRollouts: boolean
  messages: string[] | null
  answer: string[] | null
  tools: string[] | null
  corrections: FieldPlace[]
  score: PlannedScore[]
  minScore: number | null
  /** How answers become pairs; null: they do not. */
  pairs: PlannedPairs | null
  /** What is compared: answers to the same question, to the same inputs, or with the same value of a field. */
  group: "question" | "input" | FieldPlace | null
  /** The fields that are read of each call, in the language of queries of calls. */
  fields: string[]
  /** Places, among the fields, of the ids of feedback. */
  feedbackIds: number[]
}

/** Fields of what belongs to the source and not to the call. */
const extraHeads: Readonly<Record<TrainFromBody["source"]["kind"], string | null>> = {
  calls: null,
  queue: "label",
  evaluation: "scores",
  dataset: "row",
  rollouts: null,
}

/** @throws {HeddleError} 422 for a field that the source has not. */
export function rowPlan({ source, target }: Pick<TrainFromBody, "source" | "target">): RowPlan {
  const fields = new Map<string, number>()
  const head = extraHeads[source.kind]
  const placeOf = (name: string, loc: (string | number)[]): FieldPlace => {
    if (source.kind === "rollouts") return { name, from: "extra", at: rolloutField(name, source, loc) }
    const isExtra = head !== null && name.startsWith(`${head}.`)
    const rest = isExtra ? name.slice(head.length + 1) : name
    if (isExtra && source.kind === "dataset") return { name, from: "row", at: splitPath(rest) }
    if (isExtra) return { name, from: "extra", at: rest }
    if (source.kind === "dataset") {
      throw invalid(["body", "target", ...loc], `"${name}" is no field of a dataset's row; write row.<path>`)
    }
    if (!fields.has(name)) fields.set(name, fields.size)
    return { name, from: "line", at: fields.get(name) as number }
  }
  const isRl = target.kind === "rl"
  if (isRl && source.kind === "dataset") {
    throw invalid(
      ["body", "target", "kind"],
      "rows of a dataset hold no sampled tokens, so that rl cannot learn from them; use sft",
    )
  }
  if (source.kind === "rollouts" && target.kind === "dpo" && target.pairs.from === "vote") {
    const told = "a vote prefers one call to others, and says nothing of rollouts; make pairs from score or fields"
    throw invalid(["body", "target", "pairs", "from"], told)
  }
  const pairs = target.kind === "dpo" ? plannedPairs(target.pairs, placeOf) : null
  const { parts, loc } = scoreOf(target)
  const score = parts.map((part, index) => planned(part, placeOf(part.field, [...loc, index, "field"])))
  const corrections =
    target.kind === "sft" ? (target.corrections ?? []).map((name, index) => placeOf(name, ["corrections", index])) : []
  const grouped = groupedBy(target)
  const group =
    grouped === null || grouped === "question" || grouped === "input"
      ? grouped
      : placeOf(grouped, [isRl ? "group_by" : "best_of"])
  const feedbackIds = [...fields.keys()].flatMap((name) => {
    const type = /^feedback\.\[([^\]*]+)\]\./.exec(name)?.[1]
    if (type === undefined) return []
    const id = `feedback.[${type}].id`
    if (!fields.has(id)) fields.set(id, fields.size)
    return [fields.get(id) as number]
  })
  checkTarget(target)
  const { messages, answer, tools } = target.mapping ?? {}
  return {
    kind: target.kind,
    ofDataset: source.kind === "dataset",
    ofRollouts: source.kind === "rollouts",
    messages: mapped(messages, source.kind),
    answer: mapped(answer, source.kind),
    tools: mapped(tools, source.kind),
    corrections,
    score,
    minScore: target.kind === "sft" ? (target.min_score ?? null) : null,
    pairs,
    group,
    fields: [...fields.keys()],
    feedbackIds: [...new Set(feedbackIds)],
  }
}

const feedbackPayload = /^feedback\.\[[^\]*]+\]\.(payload\..+)$/s

/** @throws {HeddleError} 422 for a field that a rollout and the calls around it do not have. */
function rolloutField(name: string, { queue_id: queueId }: TrainingRollouts, loc: (string | number)[]): string {
  if (name.startsWith("label.") && queueId == null) {
    throw invalid(["body", "target", ...loc], `"${name}" is a label; name its queue in source.queue_id`)
  }
  const payload = feedbackPayload.exec(name)?.[1]
  if (payload !== undefined || /^(rollout|label|scores)\./.test(name)) {
    // A path with a hole is refused before anything is read.
    splitPath(payload ?? name)
    return name
  }
  const known = "rollout.reward, rollout.group and rollout.metrics.<name>"
  const around = "feedback.[<type>].payload.<path>, scores.<scorer> and label.<field>"
  throw invalid(
    ["body", "target", ...loc],
    `"${name}" is no field of a rollout; it has ${known}, and of the calls around its turns ${around}`,
  )
}

/** Fields that only the source of a row knows. */
export function extraPlaces({ score, corrections, group, pairs }: RowPlan): { name: string; at: string }[] {
  const all: (FieldPlace | null)[] = [...score.map(({ place }) => place), ...corrections]
  if (group !== null && typeof group === "object") all.push(group)
  if (pairs?.from === "fields") all.push(pairs.chosen, pairs.rejected)
  if (pairs?.from === "vote") all.push(pairs.over, pairs.value)
  return all.flatMap((place) => (place?.from === "extra" ? [place] : []))
}

function scoreOf(target: TrainingTarget): { parts: readonly ScorePart[]; loc: string[] } {
  if (target.kind === "rl") return { parts: target.reward, loc: ["reward"] }
  if (target.kind === "sft") return { parts: target.score ?? [], loc: ["score"] }
  return { parts: target.pairs.from === "score" ? target.pairs.score : [], loc: ["pairs", "score"] }
}

/** Only answers to the same question make a pair. */
function groupedBy(target: TrainingTarget): string | null {
  if (target.kind === "rl") return target.group_by ?? "question"
  return target.kind === "dpo" ? "question" : (target.best_of ?? null)
}

type PlaceOf = (name: string, loc: (string | number)[]) => FieldPlace

const playgroundVote = "feedback.[playground.vote].payload"

function plannedPairs(pairs: DpoTarget["pairs"], placeOf: PlaceOf): PlannedPairs {
  if (pairs.from === "score") return { from: "score" }
  if (pairs.from === "vote") {
    const field = pairs.field ?? playgroundVote
    const loc = ["pairs", "field"]
    return { from: "vote", over: placeOf(`${field}.over`, loc), value: placeOf(`${field}.value`, loc) }
  }
  const { chosen = null, rejected = null } = pairs
  if (chosen === null && rejected === null) {
    throw invalid(
      ["body", "target", "pairs"],
      "name a field with the better answer in chosen, one with the worse in rejected, or both; the row's own answer takes the place of one",
    )
  }
  if (chosen === rejected) {
    throw invalid(["body", "target", "pairs", "rejected"], `"${rejected}" is chosen, too; name another field`)
  }
  return {
    from: "fields",
    chosen: chosen === null ? null : placeOf(chosen, ["pairs", "chosen"]),
    rejected: rejected === null ? null : placeOf(rejected, ["pairs", "rejected"]),
  }
}

function planned({ weight, values, missing }: ScorePart, place: FieldPlace): PlannedScore {
  return { place, weight: weight ?? 1, values: values ?? {}, missing: missing ?? null }
}

function checkTarget(target: TrainingTarget): void {
  if (target.kind !== "sft") return
  const needed = target.min_score != null ? "min_score" : target.best_of != null ? "best_of" : null
  if (needed !== null && (target.score ?? []).length === 0) {
    throw invalid(["body", "target", "score"], `${needed} needs a score; name the fields that it is made of in score`)
  }
}

const heads: Readonly<Record<string, readonly string[]>> = {
  dataset: ["row"],
  other: ["inputs", "output", "attributes"],
}

function mapped(path: string | null | undefined, kind: string): string[] | null {
  if (path == null) return null
  const steps = splitPath(path)
  const known = heads[kind] ?? heads["other"] ?? []
  if (known.includes(steps[0] ?? "")) return kind === "dataset" ? ["inputs", ...steps.slice(1)] : steps
  throw invalid(["body", "target", "mapping"], `"${path}" does not begin with ${known.join(", ")}`)
}
