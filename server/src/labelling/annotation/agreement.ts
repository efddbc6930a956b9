/**
 * How far annotators agree on one field, from labels that are added unit by unit (a unit is an item
 * that two or more have labelled). Labels are categories: JSON values that are equal or not.
 *
 * - Percent: of the pairs of labels of a unit, those that are equal; the mean over units (the
 *   observed agreement of Fleiss, "Measuring nominal scale agreement among many raters",
 *   Psychological Bulletin 76, 1971).
 * - Cohen's kappa, for two annotators: "A coefficient of agreement for nominal scales", Educational
 *   and Psychological Measurement 20, 1960.
 * - Fleiss' kappa, for more: as above; where units have different numbers of labels, chance is
 *   counted over all labels.
 * - Krippendorff's alpha, nominal, and interval where every label is a number: "Computing
 *   Krippendorff's Alpha-Reliability", University of Pennsylvania, 2011.
 *
 * A coefficient that is not defined, since there is nothing to tell agreement from chance by, is null.
 */
import { hash } from "node:crypto"
import { oneSpelling } from "../../json/exact-json.ts"

/** Labels of one unit by annotator: JSON values as `parseExact` reads them. */
export type Unit = ReadonlyMap<string, unknown>

export interface Agreement {
  annotators: number
  /** With two labels or more. */
  units: number
  /** Number of labels in these units. */
  labels: number
  /** 0–1. */
  percent_agreement: number | null
  cohen_kappa: number | null
  fleiss_kappa: number | null
  krippendorff_alpha_nominal: number | null
  krippendorff_alpha_interval: number | null
}

export class AgreementTally {
  #units = 0
  #labels = 0
  #observed = 0
  readonly #annotators = new Set<string>()
  readonly #categories = new Map<string, number>()
  readonly #pairs = new PairTable()
  /** Krippendorff's coincidences of equal labels. */
  #coincidences = 0
  readonly #interval = new IntervalTally()

  add(unit: Unit): void {
    if (unit.size < 2) return
    const labels = [...unit].map(([annotator, value]) => ({ annotator, category: categoryOf(value) }))
    const counts = new Map<string, number>()
    for (const { annotator, category } of labels) {
      this.#annotators.add(annotator)
      counts.set(category, (counts.get(category) ?? 0) + 1)
      this.#categories.set(category, (this.#categories.get(category) ?? 0) + 1)
    }
    const equalPairs = sum([...counts.values()].map((count) => count * (count - 1)))
    this.#units++
    this.#labels += unit.size
    this.#observed += equalPairs / (unit.size * (unit.size - 1))
    this.#coincidences += equalPairs / (unit.size - 1)
    if (this.#annotators.size === 2) this.#pairs.add(labels)
    this.#interval.add([...unit.values()])
  }

  result(): Agreement {
    const annotators = this.#annotators.size
    const observed = this.#units === 0 ? null : this.#observed / this.#units
    return {
      annotators,
      units: this.#units,
      labels: this.#labels,
      percent_agreement: observed,
      cohen_kappa: annotators === 2 ? kappa(observed, this.#pairs.chance()) : null,
      fleiss_kappa: annotators > 2 ? kappa(observed, this.#chance()) : null,
      krippendorff_alpha_nominal: this.#nominalAlpha(),
      krippendorff_alpha_interval: this.#interval.alpha(),
    }
  }

  /** That two labels drawn from all of them are equal. */
  #chance(): number {
    return sum([...this.#categories.values()].map((count) => (count / this.#labels) ** 2))
  }

  #nominalAlpha(): number | null {
    const n = this.#labels
    const observed = n - this.#coincidences
    const expected = (n ** 2 - sum([...this.#categories.values()].map((count) => count ** 2))) / (n - 1)
    return alpha(observed, expected)
  }
}

/** How far each annotator's labels equal those of the others, by field. */
export class AnnotatorTally {
  readonly #counts = new Map<string, Map<string, { pairs: number; equal: number }>>()

  add(field: string, unit: Unit): void {
    const labels = [...unit].map(([annotator, value]) => ({ annotator, category: categoryOf(value) }))
    for (const one of labels) {
      const others = labels.filter(({ annotator }) => annotator !== one.annotator)
      if (others.length === 0) continue
      const fields = this.#counts.get(one.annotator) ?? new Map<string, { pairs: number; equal: number }>()
      this.#counts.set(one.annotator, fields)
      const count = fields.get(field) ?? { pairs: 0, equal: 0 }
      fields.set(field, count)
      count.pairs += others.length
      count.equal += others.filter(({ category }) => category === one.category).length
    }
  }

  result() {
    return [...this.#counts].map(([annotator, counts]) => {
      const fields = [...counts]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([field, { pairs, equal }]) => ({ field, pairs, percent_agreement: equal / pairs }))
      const percent_agreement = sum(fields.map((one) => one.percent_agreement)) / fields.length
      return { annotator_user_id: annotator, percent_agreement, fields }
    })
  }
}

/** How often each of two annotators uses each category, over the units that both have labelled. */
class PairTable {
  #units = 0
  readonly #uses = new Map<string, Map<string, number>>()

  add(labels: readonly { annotator: string; category: string }[]): void {
    this.#units++
    for (const { annotator, category } of labels) {
      const uses = this.#uses.get(annotator) ?? new Map<string, number>()
      this.#uses.set(annotator, uses)
      uses.set(category, (uses.get(category) ?? 0) + 1)
    }
  }

  /** That both use the same category if each draws from what they used. */
  chance(): number {
    const [first = new Map<string, number>(), second = new Map<string, number>()] = this.#uses.values()
    return sum([...first].map(([category, uses]) => (uses * (second.get(category) ?? 0)) / this.#units ** 2))
  }
}

/** Krippendorff's alpha of squared differences. */
class IntervalTally {
  #isNumeric = true
  /** Differences are counted from the first label, lest large numbers drown them. */
  #origin: number | null = null
  #observed = 0
  #count = 0
  #sum = 0
  #squares = 0

  add(values: readonly unknown[]): void {
    const read = values.map(numberOf)
    if (read.includes(null)) this.#isNumeric = false
    if (!this.#isNumeric) return
    const origin = (this.#origin ??= Number(read[0]))
    const numbers = read.map((value) => Number(value) - origin)
    const [total, squares] = [sum(numbers), sum(numbers.map((one) => one ** 2))]
    this.#observed += differences(numbers.length, total, squares) / (numbers.length - 1)
    this.#count += numbers.length
    this.#sum += total
    this.#squares += squares
  }

  alpha(): number | null {
    if (!this.#isNumeric) return null
    return alpha(this.#observed, differences(this.#count, this.#sum, this.#squares) / (this.#count - 1))
  }
}

/** The sum of (x − y)² over all ordered pairs. */
function differences(count: number, total: number, squares: number): number {
  return 2 * (count * squares - total ** 2)
}

function kappa(observed: number | null, chance: number): number | null {
  return observed === null || chance >= 1 ? null : (observed - chance) / (1 - chance)
}

/** From disagreements. */
function alpha(observed: number, expected: number): number | null {
  return expected > 0 ? 1 - observed / expected : null
}

/** A label may have a mebibyte, and its category is kept as long as labels are added. */
const longestCategory = 64

/** Equal values give equal texts, in whatever order the keys of an object stand. */
function categoryOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (JSON.isRawJSON(part)) return oneSpelling(part.rawJSON)
    return typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part
  })
  return text.length <= longestCategory ? text : hash("sha256", text)
}

/** null: it is no number. */
function numberOf(value: unknown): number | null {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON)
  return typeof value === "number" ? value : null
}

/** Whether two values are the same label. */
export function isSameLabel(one: unknown, other: unknown): boolean {
  return categoryOf(one) === categoryOf(other)
}

/** Whether the labels of a unit differ. */
export function isDisputed(unit: Unit): boolean {
  return new Set([...unit.values()].map(categoryOf)).size > 1
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
