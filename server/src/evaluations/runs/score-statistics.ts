/** Statistics over scores, one for each leaf of what a scorer gives: evaluation-store-objects 7. */
import { isJsonObject } from "../../json/parsed-json.ts"
import type { ScorerStat } from "../../wire/evaluations/eval-results.ts"

type ValueType = "binary" | "continuous" | "text"

interface Leaf {
  scorer: string
  path: readonly string[]
  /** Type of the first value. */
  valueType: ValueType
  trials: number
  numbers: number
  sum: number
  passes: number
  known: number
}

export class ScoreStatistics {
  readonly #leaves = new Map<string, Leaf>()

  /** `scores`: by the name of the scorer. */
  add(scores: unknown): void {
    if (!isJsonObject(scores)) return
    for (const [scorer, value] of Object.entries(scores)) this.#walk(scorer, [], value)
  }

  #walk(scorer: string, path: readonly string[], value: unknown): void {
    if (isJsonObject(value)) {
      for (const [key, inner] of Object.entries(value)) this.#walk(scorer, [...path, key], inner)
      return
    }
    const valueType = typeOf(value)
    if (valueType === null) return
    const leaf = this.#leaf(scorer, path, valueType)
    leaf.trials++
    if (typeof value === "boolean") {
      leaf.known++
      leaf.passes += Number(value)
    } else if (typeof value === "number") {
      leaf.numbers++
      leaf.sum += value
    }
  }

  #leaf(scorer: string, path: readonly string[], valueType: ValueType): Leaf {
    const key = JSON.stringify([scorer, ...path])
    const known = this.#leaves.get(key)
    if (known !== undefined) return known
    const leaf = { scorer, path, valueType, trials: 0, numbers: 0, sum: 0, passes: 0, known: 0 }
    this.#leaves.set(key, leaf)
    return leaf
  }

  /** In the order in which the leaves were met. */
  stats(): ScorerStat[] {
    return Array.from(this.#leaves.values(), (leaf) => ({
      scorer_key: leaf.scorer,
      path: leaf.path.length === 0 ? null : leaf.path.join("."),
      value_type: leaf.valueType,
      trial_count: leaf.trials,
      numeric_count: leaf.numbers,
      numeric_mean: leaf.numbers === 0 ? null : leaf.sum / leaf.numbers,
      pass_true_count: leaf.passes,
      pass_known_count: leaf.known,
      pass_rate: leaf.known === 0 ? null : leaf.passes / leaf.known,
      pass_signal_coverage: leaf.known / leaf.trials,
    }))
  }

  /** `{mean}` of each leaf of numbers and booleans (0 and 1), in the shape of the scores. */
  means(): Record<string, unknown> {
    const means = new Map<string, unknown>()
    for (const { scorer, path, sum, passes, numbers, known } of this.#leaves.values()) {
      if (numbers + known > 0) setAt(means, [scorer, ...path], { mean: (sum + passes) / (numbers + known) })
    }
    return toObject(means)
  }
}

function typeOf(value: unknown): ValueType | null {
  if (typeof value === "boolean") return "binary"
  if (typeof value === "number") return "continuous"
  return typeof value === "string" ? "text" : null
}

/** A scorer that gave a number once and an object another time keeps what came first. */
function setAt(map: Map<string, unknown>, [name = "", ...rest]: readonly string[], value: object): void {
  if (rest.length === 0) {
    if (!map.has(name)) map.set(name, value)
    return
  }
  const inner = map.get(name) ?? new Map<string, unknown>()
  if (!(inner instanceof Map)) return
  map.set(name, inner)
  setAt(inner as Map<string, unknown>, rest, value)
}

function toObject(map: ReadonlyMap<string, unknown>): Record<string, unknown> {
  // From entries, so that no name is the prototype.
  return Object.fromEntries(
    Array.from(map, ([name, value]) => [name, value instanceof Map ? toObject(value as Map<string, unknown>) : value]),
  )
}
