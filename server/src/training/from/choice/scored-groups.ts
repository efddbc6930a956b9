import { EveryRow } from "./every-row.ts"
import type { Candidate, ChosenRows } from "./row-choice.ts"

/** Answers whose rewards are compared with each other. */
interface Group {
  count: number
  lowest: number
  highest: number
}

/** All rows, in groups whose rewards are compared: for RL. */
export class ScoredGroups extends EveryRow {
  readonly #groups = new Map<string, Group>()

  override add(candidate: Candidate): void {
    super.add(candidate)
    const { group: name, score } = candidate.row
    if (name === null) return
    const reward = score ?? 0
    const group = this.#groups.get(name)
    if (group === undefined) {
      this.#groups.set(name, { count: 1, lowest: reward, highest: reward })
      return
    }
    group.count += 1
    group.lowest = Math.min(group.lowest, reward)
    group.highest = Math.max(group.highest, reward)
  }

  override finish(): ChosenRows {
    const groups = [...this.#groups.values()]
    return {
      ...super.finish(),
      groups: {
        groups: groups.length,
        withoutContrast: groups.filter(hasNoContrast).length,
        ofOne: groups.filter(({ count }) => count === 1).length,
      },
    }
  }
}

/** As training-api 7.2 has it: equal but for rounding. */
function hasNoContrast({ count, lowest, highest }: Group): boolean {
  return count > 1 && highest - lowest <= 1e-12 * Math.max(Math.abs(lowest), Math.abs(highest))
}
