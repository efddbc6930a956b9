import type { PreviewRow } from "../../../wire/training/train-from.ts"
import type { DropTally } from "../drop-tally.ts"
import type { MappedRow } from "../map-rows-task.ts"
import type { Sizes } from "../row-sizes.ts"
import {
  type Candidate,
  type ChosenRows,
  type KeptRow,
  mostPreviews,
  previewRows,
  Repeats,
  type RowChoice,
  shown,
  Totals,
} from "./row-choice.ts"

interface Best {
  id: string
  score: number
  isCorrected: boolean
  sizes: Sizes
  kept: KeptRow | null
}

/** Of each group the best answer, of equal ones the first; a correction is better than any. */
export class BestAnswers implements RowChoice {
  readonly #drops: DropTally
  readonly #repeats: Repeats
  readonly #totals = new Totals()
  readonly #best = new Map<string, Best>()
  readonly #preview = new Map<string, PreviewRow>()

  constructor(drops: DropTally) {
    this.#drops = drops
    this.#repeats = new Repeats(drops)
  }

  get previewsWanted(): number {
    return previewRows - this.#preview.size
  }

  admits(row: MappedRow): boolean {
    return !this.#repeats.hasElsewhere(row)
  }

  add({ row, sizes, kept, preview }: Candidate): void {
    this.#repeats.add(row)
    const { id, isCorrected } = row
    const score = isCorrected ? Number.POSITIVE_INFINITY : (row.score ?? 0)
    const group = row.group ?? ""
    const best = this.#best.get(group)
    if (best !== undefined && score <= best.score) {
      this.#drops.add("not_the_best", id, `call ${best.id} is better`)
      return
    }
    if (best !== undefined) {
      this.#drops.add("not_the_best", best.id, `call ${id} is better`)
      this.#totals.remove(best.sizes, best.isCorrected)
      this.#preview.delete(best.id)
    }
    this.#best.set(group, { id, score, isCorrected, sizes, kept })
    this.#totals.add(sizes, isCorrected)
    if (preview !== null && this.#preview.size < mostPreviews) this.#preview.set(id, shown(preview))
  }

  finish(): ChosenRows {
    const kept = [...this.#best.values()].flatMap((best) => best.kept ?? [])
    return {
      totals: this.#totals,
      kept,
      preview: [...this.#preview.values()].slice(0, previewRows),
      pairs: null,
      groups: null,
    }
  }
}
