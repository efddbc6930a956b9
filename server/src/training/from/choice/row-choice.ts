/** Which rows of a source are trained on: each kind of target chooses in its own way. */
import type { PreviewRow } from "../../../wire/training/train-from.ts"
import type { DropTally } from "../drop-tally.ts"
import type { MappedRow, RowPreview } from "../map-rows-task.ts"
import type { Sizes } from "../row-sizes.ts"

/** The part of a row that a job keeps. */
export interface KeptRow extends Pick<
  MappedRow,
  "id" | "rowDigest" | "rolloutId" | "feedbackIds" | "score" | "isCorrected" | "group" | "bytes"
> {
  /** In the file of texts. */
  offset: number
  /** The tokens are taken from there; null: the row holds them. */
  ledgerKey: string | null
}

/** A row that could be trained on. */
export interface Candidate {
  row: MappedRow
  sizes: Sizes
  /** null: a dry run. */
  kept: KeptRow | null
  /** null: it was not wanted. */
  preview: RowPreview | null
}

export interface GroupCounts {
  groups: number
  withoutContrast: number
  ofOne: number
}

export interface ChosenRows {
  totals: Totals
  /** Empty for a dry run. */
  kept: KeptRow[]
  preview: PreviewRow[]
  /** null: rows are not compared two by two. */
  pairs: number | null
  /** null: rows do not stand in groups. */
  groups: GroupCounts | null
}

/** What is not chosen is told to a {@link DropTally}. */
export interface RowChoice {
  /** Of how many of the rows to come a preview is of use. */
  readonly previewsWanted: number
  /** false: the row is left out whatever its tokens, which need not be counted. */
  admits(row: MappedRow): boolean
  /** Takes a row that was admitted. */
  add(candidate: Candidate): void
  finish(): ChosenRows
}

export const previewRows = 5
/** Previews that are kept while it is open which rows stay. */
export const mostPreviews = 200

/** What the chosen rows come to. */
export class Totals {
  rows = 0
  corrected = 0
  prompt = 0
  completion = 0

  add({ prompt, completion }: Sizes, isCorrected = false): void {
    this.rows += 1
    this.corrected += isCorrected ? 1 : 0
    this.prompt += prompt
    this.completion += completion
  }

  remove({ prompt, completion }: Sizes, isCorrected: boolean): void {
    this.rows -= 1
    this.corrected -= isCorrected ? 1 : 0
    this.prompt -= prompt
    this.completion -= completion
  }
}

/** Rows that say the same as one that came before. */
export class Repeats {
  readonly #drops: DropTally
  /** The group of the first row of each text. */
  readonly #groups = new Map<string, string | null>()

  constructor(drops: DropTally) {
    this.#drops = drops
  }

  /** Tells the tally of it. */
  has({ id, same }: MappedRow): boolean {
    if (!this.#groups.has(same)) return false
    this.#drops.add("repeated", id, "the one that came first is kept")
    return true
  }

  /** As {@link has}, but two equal answers in one group compete like any other two. */
  hasElsewhere(row: MappedRow): boolean {
    return this.#groups.get(row.same) !== row.group && this.has(row)
  }

  add({ same, group }: MappedRow): void {
    this.#groups.set(same, group)
  }
}

/** The two answers of a pair of fields are one row's. */
export const rowKey = ({ id, same }: Pick<MappedRow, "id" | "same">) => `${id} ${same}`

export function shown({ id, question, answer, isCorrected, score }: RowPreview): PreviewRow {
  return { id, question, answer, rejected: null, is_corrected: isCorrected, score }
}
