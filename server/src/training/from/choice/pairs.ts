import type { PreviewRow } from "../../../wire/training/train-from.ts"
import type { DropTally } from "../drop-tally.ts"
import type { MappedRow, RowPreview } from "../map-rows-task.ts"
import type { PlannedPairs } from "../row-plan.ts"
import { type Pair, pairingBy, type Pairing } from "./pair-rows.ts"
import {
  type Candidate,
  type ChosenRows,
  type KeptRow,
  mostPreviews,
  previewRows,
  Repeats,
  type RowChoice,
  rowKey,
  shown,
  Totals,
} from "./row-choice.ts"

/** Pairs of answers, each as two rows, the better one first. Which are pairs is known when all rows are there. */
export class Pairs implements RowChoice {
  readonly #pairing: Pairing<KeptRow | null>
  /** null: equal answers are told apart by what they are paired with. */
  readonly #repeats: Repeats | null
  readonly #previews = new Map<string, RowPreview>()

  constructor({ from }: PlannedPairs, drops: DropTally) {
    this.#pairing = pairingBy(from, drops)
    this.#repeats = from === "score" ? new Repeats(drops) : null
  }

  get previewsWanted(): number {
    return mostPreviews - this.#previews.size
  }

  admits(row: MappedRow): boolean {
    return this.#repeats?.has(row) !== true
  }

  add({ row, sizes, kept, preview }: Candidate): void {
    this.#repeats?.add(row)
    const { id, same, group, score, pair } = row
    this.#pairing.add({ row: { id, same, group, score, pair }, ...sizes, kept })
    if (preview !== null && this.previewsWanted > 0) this.#previews.set(rowKey(row), preview)
  }

  finish(): ChosenRows {
    const pairs = this.#pairing.pairs()
    const totals = new Totals()
    for (const { chosen, rejected } of pairs) for (const one of [chosen, rejected]) totals.add(one)
    const kept = pairs.flatMap(({ chosen, rejected }, number) =>
      [chosen, rejected].flatMap((one) => (one.kept === null ? [] : { ...one.kept, group: String(number) })),
    )
    return { totals, kept, preview: this.#shown(pairs), pairs: pairs.length, groups: this.#pairing.counts() }
  }

  /** The first pairs of which both answers have a preview. */
  #shown(pairs: readonly Pair<KeptRow | null>[]): PreviewRow[] {
    const rows: PreviewRow[] = []
    for (const { chosen, rejected } of pairs) {
      if (rows.length === previewRows) break
      const [preview, other] = [chosen, rejected].map(({ row }) => this.#previews.get(rowKey(row)))
      if (preview === undefined || other === undefined) continue
      rows.push({ ...shown(preview), rejected: other.answer, is_corrected: false })
    }
    return rows
  }
}
