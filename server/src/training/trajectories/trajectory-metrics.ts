/** Metrics of a step from its trajectories: training-api 2.4, the metric table. */
import type { groupFields, Trajectory } from "../../wire/training/trajectory.ts"
import type { z } from "zod"

type GroupFields = z.output<typeof groupFields>

class Mean {
  #sum = 0
  #count = 0

  add(value: number): void {
    this.#sum += value
    this.#count += 1
  }

  get count(): number {
    return this.#count
  }

  /** 0 of nothing. */
  get value(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count
  }
}

/** Takes groups one after another; holds one group's rewards and a few sums. */
export class TrajectoryMetrics {
  readonly #reward = new Mean()
  readonly #groupDeviation = new Mean()
  readonly #trajectoryMetrics = new Map<string, Mean>()
  readonly #groupMetrics = new Map<string, Mean>()
  #groupRewards: number[] = []
  #exceptions = 0
  #groups = 0

  trajectory({ reward, metrics }: Pick<Trajectory, "reward" | "metrics">): void {
    this.#reward.add(reward)
    this.#groupRewards.push(reward)
    addAll(this.#trajectoryMetrics, metrics)
  }

  /** The trajectories since the last call were one group. */
  endGroup(fields: GroupFields): void {
    if (this.#groupRewards.length >= 2) this.#groupDeviation.add(populationDeviation(this.#groupRewards))
    this.#groupRewards = []
    this.#groups += 1
    this.#exceptions += fields.exceptions.length
    addAll(this.#groupMetrics, fields.metrics)
  }

  get trajectories(): number {
    return this.#reward.count
  }

  /** Number of distinct metric names that clients sent. */
  get names(): number {
    return this.#trajectoryMetrics.size + this.#groupMetrics.size
  }

  get groups(): number {
    return this.#groups
  }

  /** Keys without `<split>/`. Empty when there was neither a trajectory nor an exception. */
  summary(): Record<string, number> {
    const rollouts = this.#reward.count + this.#exceptions
    if (rollouts === 0) return {}
    const summary = new Map<string, number>()
    for (const [name, mean] of this.#trajectoryMetrics) summary.set(name, mean.value)
    for (const [name, mean] of this.#groupMetrics) summary.set(`group_${name}`, mean.value)
    summary.set("exception_rate", this.#exceptions / rollouts)
    if (this.#reward.count > 0) {
      summary.set("reward", this.#reward.value)
      summary.set("reward_std_dev", this.#groupDeviation.value)
    }
    return Object.fromEntries(summary)
  }
}

function addAll(means: Map<string, Mean>, values: Record<string, number | boolean>): void {
  for (const [name, value] of Object.entries(values)) {
    const mean = means.get(name) ?? new Mean()
    mean.add(Number(value))
    means.set(name, mean)
  }
}

function populationDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}

/** `reward` → `train/reward`. */
export function prefixed(split: string, metrics: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${split}/${name}`, value]))
}
