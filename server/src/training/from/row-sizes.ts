/**
 * How many tokens a row has, and whether it can be trained with them. Rows of RL are trained with the tokens that were sampled;
 * for others the count is that of the service that answered, or of the engine where they may be too long, or an estimate.
 */
import type { ModelRecord } from "../../storage/catalog/training/models.ts"
import type { LedgerSize } from "../../storage/traces/token-ledger.ts"
import { policyNames } from "../trajectories/captured/policy-names.ts"
import type { DropTally } from "./drop-tally.ts"
import type { MappedRow } from "./map-rows-task.ts"
import type { RowPlan } from "./row-plan.ts"

export interface SizeTools {
  /** Reads ledger sizes of the model's project. */
  measureLedger: (keys: readonly string[]) => Promise<LedgerSize[]>
  /** Tokens of a row of fine-tuning, given as its JSON; null: the engine cannot tell now. */
  countTokens: (row: string) => Promise<number | null>
  /** Longest sequence the model takes, in tokens, or null if the engine cannot say now. */
  maximumTokens: number | null
}

export interface Sizes {
  prompt: number
  completion: number
}

/** Rows that the engine is asked to count. */
const mostCounted = 200
/** Estimate for texts whose tokens nobody has counted. */
const bytesPerToken = 4

export class RowSizes {
  /** Some size is an estimate, or the count of another service, whose tokens are not the model's. */
  isEstimated = false
  /** Rows that may be longer than the model takes, and that the engine did not count. */
  unsure = 0
  readonly #plan: RowPlan
  readonly #model: ModelRecord
  readonly #tools: SizeTools
  readonly #drops: DropTally
  #ledger = new Map<string, LedgerSize>()
  #counted = 0

  /** Rows that cannot be trained go to `drops`. */
  constructor(plan: RowPlan, model: ModelRecord, tools: SizeTools, drops: DropTally) {
    this.#plan = plan
    this.#model = model
    this.#tools = tools
    this.#drops = drops
  }

  /** Reads what the ledger has of these rows; {@link of} is asked about them next. */
  async prepare(rows: readonly MappedRow[]): Promise<void> {
    if (this.#plan.kind !== "rl") return
    const keys = rows.flatMap(({ tokens }) => tokens?.ledgerKey ?? [])
    const found = keys.length === 0 ? [] : await this.#tools.measureLedger(keys)
    this.#ledger = new Map(found.map((entry) => [entry.ledger_key, entry]))
  }

  /** null: it cannot be trained. */
  async of(row: MappedRow): Promise<Sizes | null> {
    if (this.#plan.kind === "rl") return this.#sampled(row)
    const { maximumTokens, countTokens } = this.#tools
    if (row.long !== null && maximumTokens !== null) {
      this.#counted += 1
      const count = this.#counted > mostCounted ? null : await countTokens(row.long)
      if (count !== null && count > maximumTokens) return this.#tooLong(row, count, maximumTokens)
      if (count !== null) return this.#split(row, count)
      this.unsure += 1
    }
    this.isEstimated = true
    return row.usage ?? this.#split(row, Math.ceil(row.bytes / bytesPerToken))
  }

  /** Of a pair only the answers are trained, and nobody has counted them by themselves. */
  #split({ bytes, answerBytes }: MappedRow, tokens: number): Sizes {
    if (this.#plan.pairs === null) return { prompt: tokens, completion: 0 }
    this.isEstimated = true
    const completion = Math.round((tokens * answerBytes) / Math.max(1, bytes))
    return { prompt: tokens - completion, completion }
  }

  #sampled(row: MappedRow): Sizes | null {
    const { tokens } = row
    const known = tokens?.own ?? null
    const entry = tokens?.ledgerKey == null ? undefined : this.#ledger.get(tokens.ledgerKey)
    if (known === null && entry === undefined) {
      const answer = tokens?.ledgerKey ?? "an answer without an id"
      this.#drops.add("no_tokens", row.id, `neither it nor the ledger has tokens of ${answer}`)
      return null
    }
    if (!this.#isOwn(row, entry)) {
      const model = tokens?.model ?? "a model that it does not name"
      this.#drops.add("other_model", row.id, `it was answered by ${model}`)
      return null
    }
    const sizes = known ?? { prompt: entry?.prompt_tokens ?? 0, completion: entry?.completion_tokens ?? 0 }
    const { maximumTokens } = this.#tools
    const count = known?.longest ?? sizes.prompt + sizes.completion
    return maximumTokens === null || count <= maximumTokens ? sizes : this.#tooLong(row, count, maximumTokens)
  }

  /** The model in training sampled it. */
  #isOwn({ tokens }: MappedRow, entry: LedgerSize | undefined): boolean {
    if (entry !== undefined) return entry.model_id === this.#model.id
    return tokens?.model != null && policyNames([tokens.model], this.#model).length > 0
  }

  #tooLong({ id }: MappedRow, count: number, most: number): null {
    this.#drops.add("too_long", id, `it has ${count} tokens; at most ${most} are trained on`)
    return null
  }
}
