/** Values in the cells of a group, and its best and worst. */
import type { ListedTrajectory, TrainedGroup } from "@heddle/server/wire/training/trained-trajectory.ts"
import { formatCell, formatChange, formatCount, formatScore } from "../../../../format/numbers.ts"
import type { CellValue, GroupOrder } from "../job/job-search.ts"

/** Rewards that reach beyond 0 to 1 are coloured by where they are between the job's lowest and highest. */
export function rewardScale(lowest: number | null, highest: number | null): { low: number; high: number } {
  const low = Math.min(0, lowest ?? 0)
  const high = highest === null || highest <= 1 ? 1 : highest
  return { low, high }
}

/** The highest and the lowest reward of a group; of equals the first. null where all are equal. */
export function bestAndWorst(rewards: readonly { index: number; reward: number }[]) {
  const [first] = rewards
  if (first === undefined || rewards.every(({ reward }) => reward === first.reward)) return null
  const best = rewards.reduce((found, one) => (one.reward > found.reward ? one : found))
  const worst = rewards.reduce((found, one) => (one.reward < found.reward ? one : found))
  return { best: best.index, worst: worst.index }
}

export function cellText({ reward, advantage, trained_tokens }: ListedTrajectory, by: CellValue): string {
  if (by === "tokens") return formatCount(trained_tokens)
  if (by === "advantage") return formatChange(advantage, 1)
  return rewardText(reward)
}

/** Whole rewards without decimals: most are 0 or 1. */
export function rewardText(reward: number): string {
  return Number.isInteger(reward) ? `${reward}`.replace("-", "\u2212") : formatCell(reward)
}

/** For screen readers. */
export function cellWords(group: TrainedGroup, one: ListedTrajectory, by: CellValue): string {
  const ends = bestAndWorst(group.trajectories)
  const mark = one.index === ends?.best ? ", best" : one.index === ends?.worst ? ", worst" : ""
  const drop = isTrained(one) ? "" : ", not trained"
  const value =
    by === "reward"
      ? ""
      : by === "tokens"
        ? `, ${cellText(one, by)} trained tokens`
        : `, advantage ${cellText(one, by)}`
  return `trajectory ${one.index}, reward ${formatScore(one.reward)}${value}${mark}${drop}`
}

export function isTrained({ trained_tokens }: ListedTrajectory): boolean {
  return trained_tokens > 0
}

/** Parts that were left out although their group teaches. */
export function dropsOf({ drops }: ListedTrajectory): ListedTrajectory["drops"] {
  return drops.filter(({ cause }) => cause !== "no_contrast")
}

export function ordered(groups: readonly TrainedGroup[], order: GroupOrder): TrainedGroup[] {
  if (order === "spread") return groups.toSorted((a, b) => b.reward_std_dev - a.reward_std_dev)
  return order === "mean" ? groups.toSorted((a, b) => a.mean_reward - b.mean_reward) : [...groups]
}
