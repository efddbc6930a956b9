/** Which answers are compared with which: pairs of a better and a worse one to the same question. */
import type { DropTally } from "../drop-tally.ts"
import type { MappedRow, PairEvidence } from "../map-rows-task.ts"
import type { GroupCounts } from "./row-choice.ts"

export interface PairRow<Kept> {
  row: Pick<MappedRow, "id" | "same" | "group" | "score"> & { pair: PairEvidence | null }
  prompt: number
  completion: number
  /** null: a dry run. */
  kept: Kept
}

export interface Pair<Kept> {
  chosen: PairRow<Kept>
  rejected: PairRow<Kept>
}

interface Question<Kept> {
  count: number
  best: PairRow<Kept>
  worst: PairRow<Kept>
}

export interface Pairing<Kept> {
  add(row: PairRow<Kept>): void
  /** What is in no pair is told to the tally. */
  pairs(): Pair<Kept>[]
  /** null: answers come in pairs, not in groups. */
  counts(): GroupCounts | null
}

export function pairingBy<Kept>(from: "score" | "vote" | "fields", drops: DropTally): Pairing<Kept> {
  if (from === "score") return new BestAndWorst(drops)
  return from === "vote" ? new Votes(drops) : new Fields(drops)
}

/** The best answer to each question against the worst one; of equal ones the first. */
class BestAndWorst<Kept> implements Pairing<Kept> {
  readonly #drops: DropTally
  readonly #questions = new Map<string, Question<Kept>>()

  constructor(drops: DropTally) {
    this.#drops = drops
  }

  add(row: PairRow<Kept>): void {
    const key = row.row.group ?? ""
    const question = this.#questions.get(key)
    if (question === undefined) {
      this.#questions.set(key, { count: 1, best: row, worst: row })
      return
    }
    question.count += 1
    const { best, worst } = question
    if (scoreOf(row) > scoreOf(best)) {
      question.best = row
      if (best !== worst) this.#isBetween(best, row, worst)
    } else if (scoreOf(row) < scoreOf(worst)) {
      question.worst = row
      if (best !== worst) this.#isBetween(worst, best, row)
    } else if (best === worst) this.#drops.add("tie", row.row.id, `call ${best.row.id} has the same score`)
    else this.#isBetween(row, best, worst)
  }

  #isBetween({ row: { id } }: PairRow<Kept>, best: PairRow<Kept>, worst: PairRow<Kept>): void {
    this.#drops.add("between", id, `call ${best.row.id} is as good or better, call ${worst.row.id} as bad or worse`)
  }

  pairs(): Pair<Kept>[] {
    return [...this.#questions.values()].flatMap(({ count, best, worst }) => {
      if (best !== worst) return [{ chosen: best, rejected: worst }]
      if (count === 1) this.#drops.add("no_other", best.row.id, "it is the only answer to its question")
      else this.#drops.add("tie", best.row.id, `all ${count} answers to its question have the score ${best.row.score}`)
      return []
    })
  }

  counts(): GroupCounts {
    const questions = [...this.#questions.values()]
    return {
      groups: questions.length,
      withoutContrast: questions.filter(({ count, best, worst }) => count > 1 && best === worst).length,
      ofOne: questions.filter(({ count }) => count === 1).length,
    }
  }
}

const scoreOf = ({ row }: { row: Pick<MappedRow, "score"> }) => row.score ?? 0

/** Each answer against those that a vote preferred it to. */
class Votes<Kept> implements Pairing<Kept> {
  readonly #drops: DropTally
  readonly #rows = new Map<string, PairRow<Kept>>()

  constructor(drops: DropTally) {
    this.#drops = drops
  }

  add(row: PairRow<Kept>): void {
    this.#rows.set(row.row.id, row)
  }

  pairs(): Pair<Kept>[] {
    const pairs: Pair<Kept>[] = []
    const used = new Set<string>()
    const seen = new Set<string>()
    for (const chosen of this.#rows.values()) {
      const { id, pair } = chosen.row
      for (const other of pair !== null && "over" in pair ? pair.over : []) {
        const rejected = this.#rows.get(other)
        const why = this.#unfit(chosen, other, rejected, seen)
        if (why !== null) this.#drops.add(why.cause, id, why.detail)
        else if (rejected !== undefined) {
          pairs.push({ chosen, rejected })
          used.add(other)
        }
        used.add(id)
      }
    }
    for (const { row } of this.#rows.values()) {
      if (used.has(row.id)) continue
      const isTie = row.pair !== null && "over" in row.pair && row.pair.isEqual
      if (isTie) this.#drops.add("tie", row.id, "the newest vote on it prefers none")
      else this.#drops.add("no_other", row.id, whyAlone(row.pair))
    }
    return pairs
  }

  counts(): null {
    return null
  }

  #unfit(chosen: PairRow<Kept>, other: string, rejected: PairRow<Kept> | undefined, seen: Set<string>) {
    if (rejected === undefined) {
      return { cause: "no_other", detail: `call ${other}, to which it was preferred, is not among the rows` } as const
    }
    if (rejected.row.group !== chosen.row.group) {
      return {
        cause: "other_question",
        detail: `call ${other}, to which it was preferred, was asked something else`,
      } as const
    }
    if (rejected.row.same === chosen.row.same) return { cause: "tie", detail: `call ${other} says the same` } as const
    const key = `${chosen.row.same} ${rejected.row.same}`
    if (seen.has(key))
      return { cause: "repeated", detail: `the same was preferred to what call ${other} says` } as const
    seen.add(key)
    return null
  }
}

function whyAlone(pair: PairEvidence | null): string {
  return pair === null ? "nobody has voted on it" : "no answer among the rows was preferred to it, nor it to one"
}

/** The two answers of each row, which come one after the other. */
class Fields<Kept> implements Pairing<Kept> {
  readonly #drops: DropTally
  readonly #seen = new Set<string>()
  readonly #pairs: Pair<Kept>[] = []
  #chosen: PairRow<Kept> | null = null

  constructor(drops: DropTally) {
    this.#drops = drops
  }

  add(row: PairRow<Kept>): void {
    const { pair, id, same } = row.row
    if (pair !== null && "side" in pair && pair.side === "chosen") {
      this.#chosen = row
      return
    }
    const chosen = this.#chosen
    this.#chosen = null
    // Its other half was left out.
    if (chosen?.row.id !== id) return
    const key = `${chosen.row.same} ${same}`
    if (this.#seen.has(key)) {
      this.#drops.add("repeated", id, "the one that came first is kept")
      return
    }
    this.#seen.add(key)
    this.#pairs.push({ chosen, rejected: row })
  }

  pairs(): Pair<Kept>[] {
    return this.#pairs
  }

  counts(): null {
    return null
  }
}
