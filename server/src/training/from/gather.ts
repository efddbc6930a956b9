/**
 * Reads a source from its beginning to its end and decides which rows are trained on. The dry run and the job do the same
 * work; a dry run keeps of a row no more than what tells it from others.
 */
import { HeddleError } from "../../errors.ts"
import type { ModelRecord } from "../../storage/catalog/training/models.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { ThreadPool } from "../../threads/thread-pool.ts"
import type { PreviewRow, TrainingSummary } from "../../wire/training/train-from.ts"
import { policyNames } from "../trajectories/captured/policy-names.ts"
import { DropTally } from "./drop-tally.ts"
import { mapRowsTask, type MappedRow, type MapResult, type RowPreview } from "./map-rows-task.ts"
import { type Pair, pairingBy, type Pairing } from "./pair-rows.ts"
import type { Chunk, RowChunk } from "./row-source.ts"
import type { RowPlan } from "./row-plan.ts"
import { RowSizes, type Sizes, type SizeTools } from "./row-sizes.ts"

export interface GatherTools extends SizeTools {
  threads: ThreadPool
}

/** The part of a row that a job keeps. */
export interface KeptRow {
  id: string
  rowDigest: string | null
  rolloutId: string | null
  feedbackIds: string[]
  score: number | null
  isCorrected: boolean
  group: string | null
  /** In the file of texts. */
  offset: number
  bytes: number
  /** The tokens are taken from there; null: the row holds them. */
  ledgerKey: string | null
}

export interface Gathered {
  summary: TrainingSummary
  preview: PreviewRow[]
  warnings: string[]
  /** Empty for a dry run. */
  kept: KeptRow[]
  /** Names of the model in training, as they stand in rows with captured calls. */
  policyNames: string[]
}

/** Limit on the rows of one source; each is kept in memory while the source is read. */
const mostRows = 1_000_000
const previewRows = 5
/** Answers that are kept to be shown, until it is known which of them make a pair. */
const mostPreviews = 200
/** As many threads as one user has. */
const chunksAhead = 2
/** Tokens that a chat template may add to a row. */
const templateTokens = 1024

/** Takes the JSON of rows, in order; absent: a dry run. */
export type TextSink = (text: Buffer) => Promise<void>

export async function gather(
  chunks: AsyncIterable<Chunk>,
  plan: RowPlan,
  model: ModelRecord,
  tools: GatherTools,
  sink: TextSink | null,
): Promise<Gathered> {
  const gathering = new Gathering(plan, model, tools, sink !== null)
  const map = ({ lines, extras }: RowChunk): Promise<MapResult> => {
    const input = {
      lines,
      plan,
      extras,
      wantsText: sink !== null,
      longBytes: (tools.maximumTokens ?? Number.POSITIVE_INFINITY) - templateTokens,
      previews: gathering.previewsWanted,
    }
    return tools.threads.run(mapRowsTask, input, { bytes: lines.length, answer: noLookups })
  }
  for await (const { chunk, mapped } of mappedAhead(chunks, map)) {
    if ("ready" in chunk) gathering.noteModels(chunk.capturedModels)
    await gathering.add(mapped)
    await sink?.(mapped.text)
    if ("wanted" in chunk) gathering.noteMissing(chunk.wanted)
  }
  return gathering.result()
}

/** Chunks in their order; the next is read and mapped while one is worked on. */
async function* mappedAhead(
  chunks: AsyncIterable<Chunk>,
  map: (chunk: RowChunk) => Promise<MapResult>,
): AsyncGenerator<{ chunk: Chunk; mapped: MapResult }> {
  const ahead: { chunk: Chunk; mapped: Promise<MapResult> }[] = []
  const next = async () => {
    const first = ahead.shift()
    return first === undefined ? null : { chunk: first.chunk, mapped: await first.mapped }
  }
  for await (const chunk of chunks) {
    const mapped = "ready" in chunk ? Promise.resolve(chunk.ready) : map(chunk)
    // Whoever waits for it hears of it; until then it is nobody's.
    mapped.catch(() => undefined)
    ahead.push({ chunk, mapped })
    if (ahead.length < chunksAhead) continue
    const one = await next()
    if (one !== null) yield one
  }
  for (let one = await next(); one !== null; one = await next()) yield one
}

/** Answers that are compared with each other. */
interface Group {
  count: number
  lowest: number
  highest: number
  /** The best answer so far and its tokens, when only the best is kept. */
  best: (Sizes & { id: string; isCorrected: boolean; kept: KeptRow | null }) | null
}

class Gathering {
  readonly preview: PreviewRow[] = []
  readonly #pairing: Pairing<KeptRow | null> | null
  readonly #previews = new Map<string, RowPreview>()
  readonly #plan: RowPlan
  readonly #sizes: RowSizes
  readonly #model: ModelRecord
  readonly #drops = new DropTally()
  /** The group that has each text. */
  readonly #same = new Map<string, string | null>()
  readonly #groups = new Map<string, Group>()
  readonly #capturedModels = new Set<string>()
  readonly #keeps: boolean
  #kept: KeptRow[] = []
  #seen = new Set<string>()
  #read = 0
  #rows = 0
  #corrected = 0
  #prompt = 0
  #completion = 0
  #offset = 0

  constructor(plan: RowPlan, model: ModelRecord, tools: GatherTools, keeps: boolean) {
    this.#plan = plan
    this.#model = model
    this.#sizes = new RowSizes(plan, model, tools, this.#drops)
    this.#keeps = keeps
    this.#pairing = plan.pairs === null ? null : pairingBy(plan.pairs.from, this.#drops)
  }

  get previewsWanted(): number {
    return this.#pairing === null ? previewRows - this.preview.length : mostPreviews - this.#previews.size
  }

  noteModels(names: readonly string[]): void {
    for (const name of names) this.#capturedModels.add(name)
  }

  /** Calls of the source that are not there any more. */
  noteMissing(wanted: readonly string[] | null): void {
    if (wanted === null) return
    for (const id of wanted) {
      if (this.#seen.has(id)) continue
      this.#read += 1
      this.#drops.add("deleted", id, "it is still in the source, without its call")
    }
    this.#seen = new Set()
  }

  async add({ rows, dropped, previews, read }: MapResult): Promise<void> {
    this.#read += read
    if (this.#read > mostRows) {
      const message = `the source has more than ${mostRows} rows; name fewer with filter, query or limit`
      throw new HeddleError("validation_error", message, {
        issues: [{ loc: ["body", "source"], msg: message, type: "too_long" }],
      })
    }
    for (const { id, cause, detail } of dropped) {
      this.#seen.add(id)
      this.#drops.add(cause, id, detail)
    }
    await this.#sizes.prepare(rows)
    const byId = new Map(previews.map((preview) => [preview.id, preview]))
    if (this.#pairing !== null) for (const one of previews) this.#previews.set(previewKey(one.id, one.same ?? ""), one)
    for (const row of rows) {
      this.#seen.add(row.id)
      const isTaken = await this.#take(row)
      this.#offset += row.bytes
      const preview = byId.get(row.id)
      if (!isTaken || preview === undefined || this.#pairing !== null) continue
      const { id, question, answer, isCorrected: is_corrected, score } = preview
      this.preview.push({ id, question, answer, rejected: null, is_corrected, score })
    }
  }

  async #take(row: MappedRow): Promise<boolean> {
    if (this.#pairing !== null) return this.#compare(row, this.#pairing)
    const isCompared = this.#plan.kind === "sft" && this.#plan.group !== null
    // Two equal answers in one group compete by score like any other two.
    const isRepeated = this.#same.has(row.same) && !(isCompared && this.#same.get(row.same) === row.group)
    if (isRepeated) return this.#drop("repeated", row, "the one that came first is kept")
    const sizes = await this.#sizes.of(row)
    if (sizes === null) return false
    this.#same.set(row.same, row.group)
    const kept = this.#keeps ? this.#keptRow(row) : null
    if (isCompared) return this.#best(row, sizes, kept)
    if (row.group !== null) {
      const group = this.#groups.get(row.group) ?? { count: 0, lowest: Infinity, highest: -Infinity, best: null }
      this.#groups.set(row.group, group)
      const score = row.score ?? 0
      group.count += 1
      group.lowest = Math.min(group.lowest, score)
      group.highest = Math.max(group.highest, score)
    }
    this.#count(row, sizes, 1)
    if (kept !== null) this.#kept.push(kept)
    return true
  }

  /** What it is compared with is known when all are there. */
  async #compare(row: MappedRow, pairing: Pairing<KeptRow | null>): Promise<boolean> {
    if (this.#plan.pairs?.from === "score") {
      if (this.#same.has(row.same)) return this.#drop("repeated", row, "the one that came first is kept")
      this.#same.set(row.same, row.group)
    }
    const sizes = await this.#sizes.of(row)
    if (sizes === null) return false
    const { id, same, group, score, pair } = row
    pairing.add({ row: { id, same, group, score, pair }, ...sizes, kept: this.#keeps ? this.#keptRow(row) : null })
    return true
  }

  /** Each pair as two rows, the chosen one first. */
  #takePairs(pairs: readonly Pair<KeptRow | null>[]): void {
    for (const [number, { chosen, rejected }] of pairs.entries()) {
      for (const one of [chosen, rejected]) {
        this.#count({ isCorrected: false }, one, 1)
        if (one.kept !== null) this.#kept.push({ ...one.kept, group: String(number) })
      }
      if (this.preview.length === previewRows) continue
      const preview = this.#previews.get(previewKey(chosen.row.id, chosen.row.same))
      const other = this.#previews.get(previewKey(rejected.row.id, rejected.row.same))
      if (preview === undefined || other === undefined) continue
      const { id, question, answer, score } = preview
      this.preview.push({ id, question, answer, rejected: other.answer, is_corrected: false, score })
    }
  }

  /** Only the best answer of each group stays; a correction is better than any. */
  #best(row: MappedRow, sizes: Sizes, kept: KeptRow | null): boolean {
    const key = row.group ?? ""
    const group = this.#groups.get(key)
    const score = row.isCorrected ? Number.POSITIVE_INFINITY : (row.score ?? 0)
    const best = { ...sizes, id: row.id, isCorrected: row.isCorrected, kept }
    if (group?.best != null) {
      if (score <= group.highest) return this.#drop("not_the_best", row, `call ${group.best.id} is better`)
      this.#drop("not_the_best", group.best, `call ${row.id} is better`)
      const place = this.preview.findIndex(({ id }) => id === group.best?.id)
      if (place >= 0) this.preview.splice(place, 1)
      this.#count(group.best, group.best, -1)
    }
    this.#groups.set(key, { count: 1, lowest: score, highest: score, best })
    this.#count(row, sizes, 1)
    return true
  }

  #count({ isCorrected }: { isCorrected: boolean }, { prompt, completion }: Sizes, by: 1 | -1): void {
    this.#rows += by
    this.#corrected += isCorrected ? by : 0
    this.#prompt += by * prompt
    this.#completion += by * completion
  }

  #drop(cause: Parameters<DropTally["add"]>[0], { id }: { id: string }, detail: string): false {
    this.#drops.add(cause, id, detail)
    return false
  }

  #keptRow(row: MappedRow): KeptRow {
    const rolloutId = this.#plan.ofRollouts ? row.id : row.rolloutId
    const { id, rowDigest, feedbackIds, score, isCorrected, group, bytes, tokens } = row
    const ledgerKey = tokens?.own === null ? tokens.ledgerKey : null
    return { id, rowDigest, rolloutId, feedbackIds, score, isCorrected, group, bytes, ledgerKey, offset: this.#offset }
  }

  result(): Gathered {
    const isRl = this.#plan.kind === "rl"
    const pairs = this.#pairing?.pairs() ?? null
    if (pairs !== null) this.#takePairs(pairs)
    const compared = this.#pairing?.counts() ?? null
    const groups = [...this.#groups.values()]
    const kept =
      isRl || pairs !== null || this.#plan.group === null ? this.#kept : groups.flatMap(({ best }) => best?.kept ?? [])
    const summary: TrainingSummary = {
      kind: this.#plan.kind,
      read: this.#read,
      rows: this.#rows,
      pairs: pairs?.length ?? null,
      groups: isRl ? groups.length : (compared?.groups ?? null),
      groups_without_contrast: isRl ? groups.filter(hasNoContrast).length : (compared?.withoutContrast ?? null),
      groups_of_one: isRl ? groups.filter(({ count }) => count === 1).length : (compared?.ofOne ?? null),
      tokens: this.#prompt + this.#completion,
      trained_tokens: isRl || pairs !== null ? this.#completion : this.#prompt + this.#completion,
      tokens_are_estimated: this.#sizes.isEstimated,
      corrected: this.#corrected,
      drops: this.#drops.list(),
    }
    return {
      summary,
      preview: this.preview.slice(0, previewRows),
      warnings: this.#warnings(summary),
      kept,
      policyNames: policyNames([...this.#capturedModels], this.#model),
    }
  }

  #warnings({ kind, rows, groups, groups_without_contrast: equal, groups_of_one: alone }: TrainingSummary): string[] {
    const warnings: string[] = []
    if (this.#sizes.unsure > 0) {
      warnings.push(
        `${this.#sizes.unsure} rows may be longer than the model's longest sequence; those that are will be left out when the job begins`,
      )
    }
    if (kind === "rl" && rows > 0 && groups !== null && equal !== null && alone !== null && equal + alone === groups) {
      warnings.push(
        "no group has two different rewards, so that there is nothing to learn: reward by another field, or group by what several answers have in common",
      )
    }
    return warnings
  }
}

/** The two answers of a pair of fields are one row's. */
const previewKey = (id: string, same: string) => `${id} ${same}`

/** As training-api 7.2 has it: equal but for rounding. */
function hasNoContrast({ count, lowest, highest }: Group): boolean {
  return count > 1 && highest - lowest <= 1e-12 * Math.max(Math.abs(lowest), Math.abs(highest))
}
