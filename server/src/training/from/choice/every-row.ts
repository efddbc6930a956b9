import type { PreviewRow } from "../../../wire/training/train-from.ts"
import type { DropTally } from "../drop-tally.ts"
import type { MappedRow } from "../map-rows-task.ts"
import {
  type Candidate,
  type ChosenRows,
  type KeptRow,
  previewRows,
  Repeats,
  type RowChoice,
  shown,
  Totals,
} from "./row-choice.ts"

/** All rows, but of those that say the same the first alone. */
export class EveryRow implements RowChoice {
  readonly #repeats: Repeats
  readonly #totals = new Totals()
  readonly #kept: KeptRow[] = []
  readonly #preview: PreviewRow[] = []

  constructor(drops: DropTally) {
    this.#repeats = new Repeats(drops)
  }

  get previewsWanted(): number {
    return previewRows - this.#preview.length
  }

  admits(row: MappedRow): boolean {
    return !this.#repeats.has(row)
  }

  add({ row, sizes, kept, preview }: Candidate): void {
    this.#repeats.add(row)
    this.#totals.add(sizes, row.isCorrected)
    if (kept !== null) this.#kept.push(kept)
    if (preview !== null && this.previewsWanted > 0) this.#preview.push(shown(preview))
  }

  finish(): ChosenRows {
    return { totals: this.#totals, kept: this.#kept, preview: this.#preview, pairs: null, groups: null }
  }
}
