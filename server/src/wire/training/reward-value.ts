/** What a reward may be, wherever one comes from: of a trajectory, of a rollout, summed up from scores. */
import { z } from "zod"

/** Doubles of 2^53 and more cannot tell two rewards apart, and squares of far larger ones are infinite. */
export const mostReward = 1e15

export const rewardValue = z.number().min(-mostReward).max(mostReward)
