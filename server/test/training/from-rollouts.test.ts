/** Jobs on rollouts that the server gathered: the trained rows and their origins, and the reasons for left-out ones. */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { specTrajectory } from "../../src/wire/engine/train.ts"
import { storedJobConfig } from "../../src/wire/training/job.ts"
import { trainedFromJob, trainingDryRun, trainingRowsAnswer } from "../../src/wire/training/train-from.ts"
import { ask, inRollout } from "../support/rollouts.ts"
import { newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

const url = "/v1/preview/training-jobs/from-source"
let opened: TrainingApp
let model: { id: string; name: string }
beforeAll(async () => {
  opened = await openTrainingApp()
  model = await newModel(opened.acme)
  const other = await newModel(opened.acme)
  await chat("a0", "a", 0, { length: 4 })
  await chat("a1", "a", 1, { length: 2 })
  await chat("b0", undefined, 0.5)
  await chat("b1", undefined, 0)
  await chat("late", "a", null)
  await chat("other", "a", 1, {}, other.name)
})
afterAll(() => opened.close())

async function chat(id: string, group: string | undefined, reward: number | null, metrics = {}, name = model.name) {
  const body = {
    model: `wandb-artifact:///acme/tests/${name}`,
    messages: [{ role: "user", content: "2+3=" }],
    max_tokens: 4,
  }
  expect((await ask(opened.app, opened.acme, "/v1/chat/completions", body, inRollout(id, group))).status).toBe(200)
  if (reward === null) return
  expect((await opened.acme.post(`/v1/rollouts/${id}/reward`, { reward, metrics })).status).toBe(200)
}

const source = { kind: "rollouts", project_id: "acme/tests" }
const rl = (...reward: object[]) => ({
  kind: "rl",
  reward: reward.length === 0 ? [{ field: "rollout.reward" }] : reward,
})
const request = (target: object, more: object = {}) => ({ model_id: model.id, source: { ...source, ...more }, target })

async function dryRun(target: object, more = {}) {
  const { status, body } = await opened.acme.post(`${url}/dry-run`, request(target, more))
  expect([status, body]).toEqual([200, expect.anything()])
  return trainingDryRun.parse(body)
}

test("a dry run counts rollouts, groups and tokens, and says what is left out and why", async () => {
  const found = await dryRun(rl())
  expect(found).toMatchObject({
    kind: "rl",
    read: 6,
    rows: 4,
    groups: 2,
    groups_without_contrast: 0,
    trained_tokens: 16,
    tokens_are_estimated: false,
  })
  expect(Object.fromEntries(found.drops.map(({ cause, examples }) => [cause, examples.map(({ id }) => id)]))).toEqual({
    no_score: ["late"],
    other_model: ["other"],
  })
  expect(found.preview[0]).toMatchObject({ id: "a0", question: "2+3=", answer: "abcd", score: 0 })
})

test("the job gets the sampled turns, group by group, and each row leads to its rollout and its reward", async () => {
  const { status, body } = await opened.acme.post(url, request(rl(), { group: "a" }))
  expect([status, body]).toEqual([200, expect.anything()])
  const { id } = trainedFromJob.parse(body)
  const row = await opened.app.stores.catalog
    .selectFrom("training_jobs")
    .select(["data_path", "config"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  const text = await readFile(path.join(opened.config.dataDir, row.data_path), "utf8")
  const lines = text
    .split("\n")
    .filter(Boolean)
    .map((line) => specTrajectory.parse(JSON.parse(line)))
  const generation = { prompt_token_ids: [1, 2, 3], token_ids: [100, 101, 102, 103], truncated: false }
  expect(lines).toMatchObject([
    { group: 0, index: 0, reward: 0, histories: [], captured: { generations: [generation] } },
    { group: 0, index: 1, reward: 1, histories: [], captured: { generations: [generation] } },
  ])
  const config = storedJobConfig.parse(row.config)
  expect(config.kind === "rl" && config.engine.policy_names).toEqual([
    `wandb-artifact:///acme/tests/${model.name}:step0`,
  ])
  const rows = trainingRowsAnswer.parse((await opened.acme.get(`/v1/preview/training-jobs/${id}/rows`)).body)
  expect(rows.data.map(({ rollout_id, call_id, score }) => [rollout_id, call_id, score])).toEqual([
    ["a0", null, 0],
    ["a1", null, 1],
  ])
})

test("a reward is made of several fields of a rollout, and a rollout without one of them is left out", async () => {
  const found = await dryRun(rl({ field: "rollout.reward" }, { field: "rollout.metrics.length", weight: -0.1 }), {
    rollout_ids: ["a0", "a1", "b0"],
  })
  expect(found.preview.map(({ id, score }) => [id, score])).toEqual([
    ["a0", -0.4],
    ["a1", 0.8],
  ])
  expect(found.drops).toMatchObject([
    { cause: "no_score", examples: [{ id: "b0", detail: "rollout.metrics.length has no value" }] },
  ])
})

test("a weighed sum that is no reward any more is left out with the reason", async () => {
  const found = await dryRun(rl({ field: "rollout.reward", weight: 1e200 }), { rollout_ids: ["a0", "a1"] })
  expect(found.drops).toMatchObject([
    {
      cause: "no_score",
      count: 1,
      examples: [{ id: "a1", detail: expect.stringContaining("the weighed sum is 1e+200") }],
    },
  ])
})

test("for sft the newest dialogue of each is a row, and the best of those that were asked the same is kept", async () => {
  const target = { kind: "sft", score: [{ field: "rollout.reward" }], best_of: "rollout.group" }
  const found = await dryRun(target, { group: "a", rollout_ids: ["a0", "a1"] })
  expect(found).toMatchObject({ kind: "sft", read: 2, rows: 1, drops: [{ cause: "not_the_best" }] })
  expect(found.preview).toMatchObject([{ id: "a1", question: "2+3=", answer: "abcd", score: 1 }])
})

test.each([
  ["nothing matches", rl(), { group: "none" }, "it matches nothing"],
  ["a group with U+0000", rl(), { group: "\0" }, "it matches nothing"],
  ["rollouts with U+0000", rl(), { rollout_ids: ["\0"] }, "it matches nothing"],
  ["a step that no model can have", rl(), { step: 3_000_000_000 }, "it matches nothing"],
  ["a field of a call", rl({ field: "inputs.reward" }), {}, "is no field of a rollout"],
])("%s: it says so, and makes no job", async (_, target, more, message) => {
  const { status, body: answer } = await opened.acme.post(url, request(target, more))
  expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(message)])
})
