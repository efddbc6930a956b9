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
import { choiceOf } from "./choice/choice-of.ts"
import { type KeptRow, type RowChoice, rowKey } from "./choice/row-choice.ts"
import { mapRowsTask, type MappedRow, type MapResult, type RowPreview } from "./map-rows-task.ts"
import type { Chunk, RowChunk } from "./row-source.ts"
import type { RowPlan } from "./row-plan.ts"
import { RowSizes, type SizeTools } from "./row-sizes.ts"

export interface GatherTools extends SizeTools {
  threads: ThreadPool
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

class Gathering {
  readonly #plan: RowPlan
  readonly #model: ModelRecord
  readonly #keeps: boolean
  readonly #drops = new DropTally()
  readonly #sizes: RowSizes
  readonly #choice: RowChoice
  readonly #capturedModels = new Set<string>()
  /** Ids of rows since the last that were missed. */
  #seen = new Set<string>()
  #read = 0
  /** Of the next row in the file of texts. */
  #offset = 0

  constructor(plan: RowPlan, model: ModelRecord, tools: GatherTools, keeps: boolean) {
    this.#plan = plan
    this.#model = model
    this.#keeps = keeps
    this.#sizes = new RowSizes(plan, model, tools, this.#drops)
    this.#choice = choiceOf(plan, this.#drops)
  }

  get previewsWanted(): number {
    return this.#choice.previewsWanted
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
    const previewOf = new Map(previews.map((preview) => [rowKey(preview), preview]))
    for (const row of rows) {
      this.#seen.add(row.id)
      await this.#offer(row, previewOf.get(rowKey(row)) ?? null)
      this.#offset += row.bytes
    }
  }

  async #offer(row: MappedRow, preview: RowPreview | null): Promise<void> {
    if (!this.#choice.admits(row)) return
    const sizes = await this.#sizes.of(row)
    if (sizes === null) return
    this.#choice.add({ row, sizes, kept: this.#keeps ? this.#keptRow(row) : null, preview })
  }

  #keptRow(row: MappedRow): KeptRow {
    const rolloutId = this.#plan.ofRollouts ? row.id : row.rolloutId
    const { id, rowDigest, feedbackIds, score, isCorrected, group, bytes, tokens } = row
    const ledgerKey = tokens?.own === null ? tokens.ledgerKey : null
    return { id, rowDigest, rolloutId, feedbackIds, score, isCorrected, group, bytes, ledgerKey, offset: this.#offset }
  }

  result(): Gathered {
    const { totals, kept, preview, pairs, groups } = this.#choice.finish()
    const tokens = totals.prompt + totals.completion
    const summary: TrainingSummary = {
      kind: this.#plan.kind,
      read: this.#read,
      rows: totals.rows,
      pairs,
      groups: groups?.groups ?? null,
      groups_without_contrast: groups?.withoutContrast ?? null,
      groups_of_one: groups?.ofOne ?? null,
      tokens,
      // Of a pair, and of what was sampled, the answers alone.
      trained_tokens: this.#plan.kind === "sft" ? tokens : totals.completion,
      tokens_are_estimated: this.#sizes.isEstimated,
      corrected: totals.corrected,
      drops: this.#drops.list(),
    }
    const names = policyNames([...this.#capturedModels], this.#model)
    return { summary, preview, warnings: this.#warnings(summary), kept, policyNames: names }
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
