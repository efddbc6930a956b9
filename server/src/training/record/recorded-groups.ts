/** Groups of a job as its record holds them, one after another. */
import path from "node:path"
import type { DropCause, RecordedTrajectory, RecordSummary } from "../../wire/engine/training-record.ts"
import type {
  ListedTrajectory,
  TrajectoryDrop,
  TrainedGroup,
  TrajectorySummary,
} from "../../wire/training/trained-trajectory.ts"
import { wholeLines } from "./record-lines.ts"

/** Reasons in plain words; the job's warnings say what to do about them. */
const reasons: Record<DropCause, string> = {
  no_contrast: "All rewards of the group are equal, so that nothing is better than anything else.",
  zero_advantage: "Its reward is the mean of its group.",
  overlong: "A sequence of it is longer than a row of this job.",
  empty: "Nothing was captured and there is no choice.",
  other_model: "Another model than the one in training was asked.",
  no_ids: "The answer holds no token ids.",
  no_logprobs: "There is no log-probability for every sampled token.",
  no_choice: "There are messages and no choice.",
  repeated: "The same tokens after the same prompt are trained once already.",
}

export function toDrop({ cause, place }: { cause: DropCause; place: string | null }): TrajectoryDrop {
  return { cause, place, reason: reasons[cause] }
}

/** null: there is no record. */
export async function readSummary(folder: string): Promise<TrajectorySummary | null> {
  for await (const line of wholeLines(indexOf(folder))) {
    const { drops, ...summary } = JSON.parse(line) as RecordSummary
    return { ...summary, drops: drops.map((drop) => ({ ...drop, reason: reasons[drop.cause] })) }
  }
  return null
}

/** The trajectories from group `from` on, by group; `place` is the line of each, from 0. */
export async function* recordedGroups(folder: string, from: number): AsyncGenerator<PlacedTrajectory[]> {
  let members: PlacedTrajectory[] = []
  let place = -2
  const isWanted = (beginning: string) => {
    place += 1
    return place >= 0 && Number(/^\{"group":(\d+),/.exec(beginning)?.[1]) >= from
  }
  for await (const line of wholeLines(indexOf(folder), isWanted)) {
    const trajectory = { ...(JSON.parse(line) as RecordedTrajectory), place }
    if (members[0] !== undefined && members[0].group !== trajectory.group) {
      yield members
      members = []
    }
    members.push(trajectory)
  }
  if (members.length > 0) yield members
}

export interface PlacedTrajectory extends RecordedTrajectory {
  place: number
}

export function toGroup(members: readonly RecordedTrajectory[]): TrainedGroup {
  const [first] = members
  const { group = 0, question = "", question_digest = null } = first ?? {}
  const rewards = members.map(({ reward }) => reward)
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length
  return {
    id: String(group),
    group,
    question,
    question_digest,
    mean_reward: mean,
    reward_std_dev: Math.sqrt(variance),
    has_contrast: members.some(({ advantage }) => advantage !== 0),
    trajectories: members.map(toListedTrajectory),
  }
}

function toListedTrajectory(recorded: RecordedTrajectory): ListedTrajectory {
  const { index, reward, advantage, completions, sampled_tokens, drops } = recorded
  const packed = recorded.sequences.flatMap(({ step, trained_tokens }) =>
    step === null ? [] : [{ step, trained_tokens }],
  )
  return {
    index,
    reward,
    advantage,
    completions,
    sampled_tokens,
    trained_tokens: packed.reduce((sum, sequence) => sum + sequence.trained_tokens, 0),
    gradient_steps: [...new Set(packed.map(({ step }) => step))].toSorted((a, b) => a - b),
    drops: drops.map(toDrop),
  }
}

function indexOf(folder: string): string {
  return path.join(folder, "trajectories.jsonl")
}
