/** Reading the groups, trajectories and tokens of an RL job after its end, with the real engine. */
import { readdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { removeOldRecords } from "../../src/scheduler/training-records.ts"
import { listedJob } from "../../src/wire/training/job.ts"
import {
  sameQuestionAnswer,
  trainedTrajectory,
  trajectoryGroupsAnswer,
} from "../../src/wire/training/trained-trajectory.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { groupsOf, newModel, sampledTrajectory, trained } from "../support/training-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let opened: TestApp
let model: { id: string; name: string }
const jobs: string[] = []

/** A group of one question with these rewards; the answers have 2, 3, 4, … tokens. */
const group = (question: string, rewards: number[]) => ({
  ...groupsOf([])[0],
  trajectories: rewards.map((reward, index) => {
    const { messages_and_choices, ...rest } = sampledTrajectory(reward, index + 2)
    return { ...rest, messages_and_choices: [{ role: "user", content: question }, ...messages_and_choices.slice(1)] }
  }),
})

beforeAll(async () => {
  opened = await openTestApp({ engine: "process", python })
  model = await newModel(opened.acme)
  await trained(opened.acme, model.id, [group("one plus one", [0, 1, 0.25]), group("two plus two", [0.5, 0.5])])
  await trained(opened.acme, model.id, [group("three", [0, 1]), group("one plus one", [1, 1, 1])])
  const { body } = await opened.acme.get(`/v1/preview/training-jobs?model_id=${model.id}`)
  jobs.push(...(body as { data: { id: string }[] }).data.map(({ id }) => id).toReversed())
}, 180_000)
afterAll(() => opened.close())

const pathOf = (job: number, rest: string) => `/v1/preview/training-jobs/${jobs[job]}/trajectory-groups${rest}`
const groups = async (rest = "") => trajectoryGroupsAnswer.strict().parse((await opened.acme.get(pathOf(0, rest))).body)

test("groups come with reward, advantage and what was not trained, and a sum of all", async () => {
  const answer = await groups()
  expect(answer).toMatchObject({ state: "kept", has_more: false, first_id: "0", last_id: "1" })
  expect(answer.summary).toEqual({
    groups: 2,
    groups_with_contrast: 1,
    trajectories: 5,
    trajectories_trained: 3,
    trained_tokens: 9,
    lowest_reward: 0,
    highest_reward: 1,
    drops: [
      {
        cause: "no_contrast",
        reason: "All rewards of the group are equal, so that nothing is better than anything else.",
        trajectories: 2,
      },
    ],
  })
  const [first, second] = answer.data
  expect(first).toMatchObject({ group: 0, question: "one plus one", has_contrast: true })
  expect(first?.mean_reward).toBeCloseTo(0.41667, 4)
  expect(first?.reward_std_dev).toBeCloseTo(0.42492, 4)
  expect(first?.trajectories.map(({ reward, trained_tokens }) => [reward, trained_tokens])).toEqual([
    [0, 2],
    [1, 3],
    [0.25, 4],
  ])
  expect(first?.trajectories.map(({ gradient_steps }) => gradient_steps)).toEqual([[1], [1], [1]])
  expect(second).toMatchObject({ has_contrast: false, mean_reward: 0.5, reward_std_dev: 0 })
  expect(second?.trajectories[0]?.drops).toMatchObject([{ cause: "no_contrast", place: null }])
})

test("pages of groups go on after a group", async () => {
  const first = await groups("?limit=1")
  expect(first).toMatchObject({ has_more: true, last_id: "0", data: [{ group: 0 }] })
  expect(await groups("?limit=1&after=0")).toMatchObject({ has_more: false, data: [{ group: 1 }] })
  expect(await groups("?after=1")).toMatchObject({ has_more: false, data: [] })
  expect((await opened.acme.get(pathOf(0, "?after=x"))).status).toBe(404)
})

test("a trajectory comes with each token: as it was sampled, as the step found it, and what was trained", async () => {
  const { body } = await opened.acme.get(pathOf(0, "/0/trajectories/1"))
  const found = trainedTrajectory.strict().parse(body)
  expect(found).toMatchObject({ group: 0, index: 1, reward: 1, question: "one plus one", drops: [] })
  expect(found.sequences).toMatchObject([{ gradient_step: 1, tokens: 6, trained_tokens: 3 }])
  const [asked, answer] = found.turns
  expect(asked).toMatchObject({ type: "message", message: { role: "user", content: "one plus one" } })
  if (answer?.type !== "completion" || answer.tokens === null) throw new Error("no completion")
  const { token_ids, texts, sampled_logprobs, trained: isTrained, logprobs, ratios, clipped } = answer.tokens
  expect(answer.message).toMatchObject({ role: "assistant", content: "two" })
  expect(token_ids).toEqual([100, 101, 102])
  expect(texts).toHaveLength(3)
  expect(sampled_logprobs).toEqual([-0.5, -0.5, -0.5])
  expect(isTrained).toEqual([true, true, true])
  expect(clipped).toHaveLength(3)
  for (const [place, ratio] of ratios.entries()) {
    expect(ratio).toBeCloseTo(Math.exp((logprobs[place] ?? 0) + 0.5), 4)
  }
})

test("a group that teaches nothing shows its tokens, none of them as trained", async () => {
  const { body } = await opened.acme.get(pathOf(0, "/1/trajectories/0"))
  const { turns, sequences } = trainedTrajectory.strict().parse(body)
  expect(sequences).toEqual([])
  expect(turns[1]).toMatchObject({
    type: "completion",
    drop: null,
    tokens: { trained: [false, false], logprobs: [null, null], sampled_logprobs: [-0.5, -0.5] },
  })
})

test("a question is found in the model's other jobs, and in no other model's", async () => {
  const other = await newModel(opened.acme)
  await trained(opened.acme, other.id, [group("one plus one", [0, 1])])
  const { body } = await opened.acme.get(pathOf(0, "/0/same-question"))
  const { data, ...rest } = sameQuestionAnswer.strict().parse(body)
  expect(rest).toEqual({ object: "list", jobs_searched: 2, is_complete: true })
  expect(data.map(({ training_job_id, group: number, output_step }) => [training_job_id, number, output_step])).toEqual(
    [
      [jobs[1], 1, 2],
      [jobs[0], 0, 1],
    ],
  )
  expect(data[0]).toMatchObject({ mean_reward: 1, has_contrast: false })
  expect(data[1]?.trajectories).toEqual([
    { index: 0, reward: 0 },
    { index: 1, reward: 1 },
    { index: 2, reward: 0.25 },
  ])
})

test.each([
  ["/7/trajectories/0", /has no group 7/],
  ["/0/trajectories/3", /has no trajectory 3 in group 0/],
  ["/9/same-question", /has no group 9/],
])("a part that a job does not have is 404: %s", async (rest, message) => {
  const { status, body } = await opened.acme.get(pathOf(0, rest))
  expect([status, JSON.stringify(body)]).toEqual([404, expect.stringMatching(message)])
})

test("a number that is none is 422", async () => {
  expect((await opened.acme.get(pathOf(0, "/x/trajectories/0"))).status).toBe(422)
})

test("a damaged line is not shown as if it were whole", async () => {
  const folder = path.join(opened.app.stores.dataDir, "training-records", model.id, jobs[1] ?? "")
  expect((await readdir(folder)).toSorted()).toEqual(["steps.jsonl", "trajectories.jsonl", "turns.jsonl"])
  const turns = path.join(folder, "turns.jsonl")
  await writeFile(turns, (await readFile(turns, "utf8")).replace("three", "thrEe"))
  const damaged = await opened.acme.get(pathOf(1, "/0/trajectories/0"))
  expect([damaged.status, JSON.stringify(damaged.body)]).toEqual([404, expect.stringMatching(/turns .* are damaged/)])
})

test("records go with their time and with their model, and a job says that nothing is kept", async () => {
  const { stores } = opened.app
  const gone = await newModel(opened.acme)
  await trained(opened.acme, gone.id)
  const folders = () => readdir(path.join(stores.dataDir, "training-records"))
  expect(await folders()).toContain(gone.id)
  await opened.acme.delete(`/v1/preview/models/${gone.id}`)
  expect(await folders()).not.toContain(gone.id)

  expect(await removeOldRecords(stores.catalog, stores.dataDir, 1)).toBe(0)
  await stores.catalog
    .updateTable("training_jobs")
    .set({ ended_at: new Date(Date.now() - 2 * 24 * 3600 * 1000) })
    .where("id", "=", jobs[0] ?? "")
    .execute()
  expect(await removeOldRecords(stores.catalog, stores.dataDir, 1)).toBe(1)
  expect(await groups()).toEqual({
    object: "list",
    data: [],
    first_id: "",
    last_id: "",
    has_more: false,
    state: "none",
    summary: null,
  })
  const { status, body } = await opened.acme.get(pathOf(0, "/0/trajectories/0"))
  expect([status, JSON.stringify(body)]).toEqual([404, expect.stringMatching(/no trajectories are kept/)])
  const job = await opened.acme.get(`/v1/preview/training-jobs/${jobs[0]}`)
  expect(listedJob.parse(job.body).status).toBe("succeeded")
  await vi.waitFor(async () => expect(await groups()).toMatchObject({ state: "none" }))
})
