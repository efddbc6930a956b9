/** Rollouts that the server gathered: for rl as they were sampled, for sft the newest dialogue of each. */
import { hash } from "node:crypto"
import type { CatalogDatabase } from "../../../storage/catalog/open-catalog.ts"
import type { ModelRecord } from "../../../storage/catalog/training/models.ts"
import type { RolloutRecord } from "../../../storage/catalog/training/rollouts.ts"
import type { TrainingRollouts } from "../../../wire/training/train-from.ts"
import { type RolloutTrajectory, rolloutsOf, trajectoryOf } from "../../rollouts/rollout-source.ts"
import { policyNames } from "../../trajectories/captured/policy-names.ts"
import type { Dropped, MappedRow, MapResult, RowExtra } from "../map-rows-task.ts"
import type { FieldPlace, PlannedScore, RowPlan } from "../row-plan.ts"
import type { Chunk } from "../row-source.ts"

/** Bytes of rows that are handed on at once; one may be larger. */
const chunkBytes = 8 * 1024 * 1024

export async function* rolloutRows(
  database: CatalogDatabase,
  projectId: string,
  plan: RowPlan,
  model: ModelRecord,
  source: TrainingRollouts,
): AsyncGenerator<Chunk> {
  const since = source.since == null ? undefined : new Date(source.since)
  const until = source.until == null ? undefined : new Date(source.until)
  const filter = {
    rolloutIds: source.rollout_ids ?? undefined,
    groupId: source.group ?? undefined,
    step: source.step ?? undefined,
    since,
    until,
  }
  const chunk = plan.kind === "rl" ? new TrajectoryChunk(plan, model) : new DialogueChunk()
  for await (const page of rolloutsOf(database, projectId, filter)) {
    for (const rollout of page) {
      chunk.add(rollout, await trajectoryOf(database, rollout))
      if (chunk.bytes >= chunkBytes) yield chunk.taken()
    }
  }
  yield chunk.taken()
}

/** Trajectories of one chunk: the sampled turns and their rewards. */
class TrajectoryChunk {
  bytes = 0
  readonly #plan: RowPlan
  readonly #model: ModelRecord
  #texts: Buffer[] = []
  #rows: MappedRow[] = []
  #dropped: Dropped[] = []
  #previews: MapResult["previews"] = []
  #names = new Set<string>()

  constructor(plan: RowPlan, model: ModelRecord) {
    this.#plan = plan
    this.#model = model
  }

  add(rollout: RolloutRecord, found: RolloutTrajectory): void {
    const made = rowOf(rollout, found, this.#plan, this.#model)
    if ("cause" in made) {
      this.#dropped.push(made)
      return
    }
    const { reward, row } = made
    const text = Buffer.from(JSON.stringify({ reward, histories: [], captured: found.captured }))
    this.#texts.push(text)
    this.bytes += text.length
    this.#rows.push({ ...row, bytes: text.length })
    for (const name of found.capturedModels) this.#names.add(name)
    this.#previews.push({ id: row.id, ...shownOf(found), isCorrected: false, score: reward })
  }

  taken(): Chunk {
    const [rows, dropped, previews] = [this.#rows, this.#dropped, this.#previews]
    const text = Buffer.concat(this.#texts)
    const capturedModels = [...this.#names]
    this.#rows = []
    this.#dropped = []
    this.#previews = []
    this.#texts = []
    this.#names = new Set()
    this.bytes = 0
    return { ready: { text, rows, dropped, previews, read: rows.length + dropped.length }, capturedModels }
  }
}

function rowOf(
  rollout: RolloutRecord,
  found: RolloutTrajectory,
  plan: RowPlan,
  model: ModelRecord,
): Dropped | { reward: number; row: Omit<MappedRow, "bytes"> } {
  const { rolloutId: id } = rollout
  if (found.untrainable !== null) {
    const cause = rollout.expiredTurns > 0 ? "no_tokens" : rollout.unfinishedTurns > 0 ? "unfinished" : "other_model"
    return { id, cause, detail: found.untrainable }
  }
  const names = new Set(policyNames(found.capturedModels, model))
  const own = found.captured.generations.filter((one) => names.has(one.model))
  if (own.length === 0)
    return { id, cause: "other_model", detail: `it was answered by ${found.capturedModels.join(", ")}` }
  const reward = scoreOf(found, plan.score)
  if (typeof reward === "string") return { id, cause: "no_score", detail: reward }
  const group = groupOf(found, plan.group)
  if (group === null) return { id, cause: "no_group", detail: "it names no group" }
  const completion = own.reduce((sum, { token_ids: ids }) => sum + (ids?.length ?? 0), 0)
  const tokens = {
    ledgerKey: null,
    model: own[0]?.model ?? null,
    own: { prompt: Math.max(0, found.longest - completion), completion, json: "", longest: found.longest },
  }
  const feedbackIds = found.rewardId === null ? [] : [found.rewardId]
  const nothing = { rowDigest: null, isCorrected: false, usage: null, long: null, pair: null, answerBytes: 0 }
  return {
    reward,
    row: { ...nothing, id, rolloutId: id, feedbackIds, score: reward, group, same: `rollout ${id}`, tokens },
  }
}

/** The weighted sum, or which field is missing. */
function scoreOf(found: RolloutTrajectory, parts: readonly PlannedScore[]): number | string {
  let sum = 0
  for (const { place, weight, values, missing } of parts) {
    const given = place.from === "extra" ? fieldOf(found, place.at) : null
    const value = (given === null ? null : (values[String(given)] ?? given)) ?? missing
    if (typeof value !== "number") return `${place.name} has no number`
    sum += weight * value
  }
  return sum
}

function fieldOf({ reward, metrics, group }: RolloutTrajectory, name: string): number | string | null {
  if (name === "reward") return reward
  if (name === "group") return group
  const metric = name.startsWith("metrics.") ? name.slice("metrics.".length) : ""
  return Object.hasOwn(metrics, metric) ? (metrics[metric] ?? null) : null
}

/** Rollouts that name no group are compared with those that were asked the same first. */
function groupOf(found: RolloutTrajectory, place: RowPlan["group"]): string | null {
  if (isField(place)) {
    const value = place.from === "extra" ? fieldOf(found, place.at) : null
    return value === null ? null : String(value)
  }
  if (found.group !== null) return `group ${found.group}`
  const [first] = found.captured.generations
  return `prompt ${hash("sha256", (first?.prompt_token_ids ?? []).join())}`
}

function isField(place: RowPlan["group"]): place is FieldPlace {
  return typeof place === "object" && place !== null
}

/** Question and answer of the newest turn, shortened. */
function shownOf({ turns }: RolloutTrajectory): { question: string; answer: string } {
  const last = turns.findLast(({ isFinished }) => isFinished)
  const question = last?.messages?.findLast(({ role }) => role === "user")?.["content"]
  const answer = last?.choices[0]?.message?.["content"] ?? last?.choices[0]?.text
  const text = (value: unknown) => (typeof value === "string" ? value.slice(0, 500) : "")
  return { question: text(question), answer: text(answer) }
}

/** Lines as those of calls, of which the messages and the answer are looked for. */
class DialogueChunk {
  bytes = 0
  #lines: Buffer[] = []
  #extras: Record<string, RowExtra> = Object.create(null) as Record<string, RowExtra>

  add(rollout: RolloutRecord, found: RolloutTrajectory): void {
    const last = found.turns.findLast(({ isFinished, messages }) => isFinished && messages !== null)
    const output = last === undefined ? null : { choices: last.choices.map((choice, index) => ({ index, ...choice })) }
    const inputs = last === undefined ? null : { messages: last.messages, tools: last.tools }
    const line = Buffer.from(`${JSON.stringify([[rollout.rolloutId, null, "1"], inputs, output, null])}\n`)
    this.#lines.push(line)
    this.bytes += line.length
    this.#extras[rollout.rolloutId] = extraOf(rollout, found, last !== undefined)
  }

  taken(): Chunk {
    const chunk = { lines: Buffer.concat(this.#lines), extras: this.#extras, wanted: null }
    this.#lines = []
    this.#extras = Object.create(null) as Record<string, RowExtra>
    this.bytes = 0
    return chunk
  }
}

function extraOf(rollout: RolloutRecord, found: RolloutTrajectory, hasDialogue: boolean): RowExtra {
  const metrics = Object.entries(found.metrics).map(([name, value]) => [`metrics.${name}`, String(value)])
  const fields = Object.fromEntries([
    ...(found.reward === null ? [] : [["reward", String(found.reward)]]),
    ...(found.group === null ? [] : [["group", found.group]]),
    ...metrics,
  ]) as Record<string, string>
  const isExpired = rollout.expiredTurns > 0
  const cause = isExpired ? "no_tokens" : "unfinished"
  const why = found.untrainable ?? "none of its turns is a dialogue that came to its end"
  const drop = hasDialogue && !isExpired ? null : ({ cause, detail: why } as const)
  return { fields, disputed: [], feedbackIds: found.rewardId === null ? [] : [found.rewardId], rowDigest: null, drop }
}
