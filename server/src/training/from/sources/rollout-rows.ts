/** Rollouts that the server gathered: for rl as they were sampled, for sft the newest dialogue of each. */
import { hash } from "node:crypto"
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { CatalogDatabase } from "../../../storage/catalog/open-catalog.ts"
import type { ModelRecord } from "../../../storage/catalog/training/models.ts"
import type { RolloutRecord } from "../../../storage/catalog/training/rollouts.ts"
import type { TraceStore } from "../../../storage/traces/store/trace-store.ts"
import type { TrainingRollouts } from "../../../wire/training/train-from.ts"
import { type RolloutTrajectory, rolloutsOf, trajectoryOf } from "../../rollouts/rollout-source.ts"
import { policyNames } from "../../trajectories/captured/policy-names.ts"
import { Drop, extraText, weighedSum } from "../field-scores.ts"
import type { Dropped, MappedRow, MapResult, RowExtra } from "../map-rows-task.ts"
import { extraPlaces, type FieldPlace, type RowPlan } from "../row-plan.ts"
import type { Chunk, LabelledCall } from "../row-source.ts"
import { type Judgement, judgeOf, noJudgement } from "./rollout-judgements.ts"

/** Bytes of rows that are handed on at once; one may be larger. */
const chunkBytes = 8 * 1024 * 1024

interface RolloutRowsRequest {
  plan: RowPlan
  model: ModelRecord
  source: TrainingRollouts
  project: ProjectAccess
  /** Labels of the queue that the source names; null: it names none. */
  labels: AsyncIterable<LabelledCall[]> | null
}

export async function* rolloutRows(
  database: CatalogDatabase,
  traces: TraceStore,
  { plan, model, source, project, labels }: RolloutRowsRequest,
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
  const judge = await judgeOf({ database, traces, project }, plan, labels)
  for await (const page of rolloutsOf(database, project.id, filter)) {
    const judgements = await judge(page.map(({ id }) => id))
    for (const rollout of page) {
      const found = await trajectoryOf(database, rollout)
      chunk.add(rollout, found, factsOf(found, judgements.get(rollout.id) ?? noJudgement, plan))
      if (chunk.bytes >= chunkBytes) yield chunk.taken()
    }
  }
  yield chunk.taken()
}

/** Fields of the rollout itself, beside what was said of the calls around it. */
function factsOf(
  { reward, rewardId, metrics, group }: RolloutTrajectory,
  judgement: Judgement,
  plan: RowPlan,
): RowExtra {
  const own = Object.entries(metrics).map(([name, value]) => [`rollout.metrics.${name}`, String(value)])
  if (reward !== null) own.push(["rollout.reward", String(reward)])
  if (group !== null) own.push(["rollout.group", group])
  const isRewarded = extraPlaces(plan).some(({ at }) => at === "rollout.reward" || at.startsWith("rollout.metrics."))
  const feedbackIds = isRewarded && rewardId !== null ? [rewardId, ...judgement.feedbackIds] : judgement.feedbackIds
  const fields = Object.fromEntries([...Object.entries(judgement.fields), ...own]) as Record<string, string>
  return { ...judgement, fields, feedbackIds: [...new Set(feedbackIds)], rowDigest: null }
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

  add(rollout: RolloutRecord, found: RolloutTrajectory, facts: RowExtra): void {
    const made = rowOf(rollout, found, facts, this.#plan, this.#model)
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
    this.#previews.push({ id: row.id, same: row.same, ...previewOf(found), isCorrected: false, score: reward })
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
  facts: RowExtra,
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
  const judged = rewardOf(found, facts, plan)
  if ("cause" in judged) return { id, ...judged }
  const { reward, group } = judged
  const completion = own.reduce((sum, { token_ids: ids }) => sum + (ids?.length ?? 0), 0)
  const tokens = {
    ledgerKey: null,
    model: own[0]?.model ?? null,
    own: { prompt: Math.max(0, found.longest - completion), completion, json: "", longest: found.longest },
  }
  const { feedbackIds } = facts
  const nothing = { rowDigest: null, isCorrected: false, usage: null, long: null, pair: null, answerBytes: 0 }
  return {
    reward,
    row: { ...nothing, id, rolloutId: id, feedbackIds, score: reward, group, same: `rollout ${id}`, tokens },
  }
}

function rewardOf(
  found: RolloutTrajectory,
  facts: RowExtra,
  { score, group }: RowPlan,
): { reward: number; group: string } | Pick<Dropped, "cause" | "detail"> {
  try {
    if (facts.drop !== null) return facts.drop
    const reward = weighedSum(score, (place) => textIn(facts, place), facts.absent)
    return { reward, group: groupOf(found, facts, group) }
  } catch (error) {
    if (error instanceof Drop) return { cause: error.dropCause, detail: error.message }
    throw error
  }
}

function textIn(facts: RowExtra, place: FieldPlace): string | null {
  return place.from === "extra" ? extraText(facts, place) : null
}

/** Rollouts that name no group are compared with those that were asked the same first. @throws {Drop} */
function groupOf(found: RolloutTrajectory, facts: RowExtra, place: RowPlan["group"]): string {
  if (isField(place)) {
    const value = textIn(facts, place)
    if (value === null) throw new Drop("no_group", `${place.name} has no value`)
    return value
  }
  if (found.group !== null) return `group ${found.group}`
  const [first] = found.captured.generations
  return `prompt ${hash("sha256", (first?.prompt_token_ids ?? []).join())}`
}

function isField(place: RowPlan["group"]): place is FieldPlace {
  return typeof place === "object" && place !== null
}

/** Question and answer of the newest turn, shortened. */
function previewOf({ turns }: RolloutTrajectory): { question: string; answer: string } {
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

  add(rollout: RolloutRecord, found: RolloutTrajectory, facts: RowExtra): void {
    const last = found.turns.findLast(({ isFinished, messages }) => isFinished && messages !== null)
    const output = last === undefined ? null : { choices: last.choices.map((choice, index) => ({ index, ...choice })) }
    const inputs = last === undefined ? null : { messages: last.messages, tools: last.tools }
    const line = Buffer.from(`${JSON.stringify([[rollout.rolloutId, null, "1"], inputs, output, null])}\n`)
    this.#lines.push(line)
    this.bytes += line.length
    this.#extras[rollout.rolloutId] = { ...facts, drop: dropOf(rollout, found, last !== undefined) ?? facts.drop }
  }

  taken(): Chunk {
    const chunk = { lines: Buffer.concat(this.#lines), extras: this.#extras, wanted: null }
    this.#lines = []
    this.#extras = Object.create(null) as Record<string, RowExtra>
    this.bytes = 0
    return chunk
  }
}

function dropOf(rollout: RolloutRecord, found: RolloutTrajectory, hasDialogue: boolean): RowExtra["drop"] {
  const isExpired = rollout.expiredTurns > 0
  if (hasDialogue && !isExpired) return null
  const detail = found.untrainable ?? "none of its turns is a dialogue that came to its end"
  return { cause: isExpired ? "no_tokens" : "unfinished", detail }
}
