import { expect, test } from "vitest"
import { groupFields, trajectory } from "../../wire/training/trajectory.ts"
import { prefixed, TrajectoryMetrics } from "./trajectory-metrics.ts"

function summaryOf(groups: { rewards: number[]; exceptions?: number; metrics?: Record<string, number> }[]) {
  const metrics = new TrajectoryMetrics()
  for (const group of groups) {
    for (const reward of group.rewards)
      metrics.trajectory(trajectory.parse({ reward, metrics: { length: reward * 2 } }))
    const exceptions = Array.from({ length: group.exceptions ?? 0 }, () => ({
      type: "E",
      message: "m",
      traceback: "t",
    }))
    metrics.endGroup(groupFields.parse({ exceptions, metrics: group.metrics ?? {} }))
  }
  return metrics.summary()
}

test("training-api 2.4: deviation is the mean over groups with two rewards or more, by the population formula", () => {
  expect(summaryOf([{ rewards: [0, 1] }, { rewards: [1, 1, 1, 5] }, { rewards: [9] }])).toMatchObject({
    reward: 18 / 7,
    reward_std_dev: (0.5 + Math.sqrt(3)) / 2,
    exception_rate: 0,
    length: 36 / 7,
  })
})

test("training-api 2.4: no group of two means deviation 0", () => {
  expect(summaryOf([{ rewards: [3] }])).toMatchObject({ reward_std_dev: 0 })
})

test("training-api 2.4: exceptions count as rollouts, and alone they leave no reward", () => {
  expect(summaryOf([{ rewards: [1], exceptions: 3 }])).toMatchObject({ exception_rate: 0.75 })
  expect(summaryOf([{ rewards: [], exceptions: 2 }])).toEqual({ exception_rate: 1 })
  expect(summaryOf([])).toEqual({})
})

test("training-api 2.4: group metrics are averaged over groups", () => {
  expect(
    summaryOf([
      { rewards: [1], metrics: { size: 1 } },
      { rewards: [1], metrics: { size: 2 } },
    ]),
  ).toMatchObject({ group_size: 1.5 })
})

test("keys carry the split", () => expect(prefixed("val", { reward: 1 })).toEqual({ "val/reward": 1 }))
