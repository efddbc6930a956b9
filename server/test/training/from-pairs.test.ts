/** Pairs of a better and a worse answer, made from scores, votes and labels, and DPO jobs on them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newQueue, newSpec, QueueUser } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { callRef, createdFeedback } from "../support/feedback-items.ts"
import { publishDataset } from "../support/judges.ts"
import { causes, fromSource, TrainFromApp } from "../support/training-from.ts"

let from: TrainFromApp
beforeAll(async () => (from = await TrainFromApp.open()))
afterAll(() => from.close())

const byScore = { from: "score", score: [{ field: "feedback.[quality].payload.value" }] }

function bodyOf({ project, model }: { project: string; model: string }, pairs: object, more: object = {}) {
  const { source, target, ...rest } = more as { source?: object; target?: object }
  return {
    model_id: model,
    source: { kind: "calls", project_id: project, ...source },
    target: { kind: "dpo", pairs, ...target },
    ...rest,
  }
}

/** Stores a vote with each of two answers, as the playground does. */
async function vote(project: string, better: number, worse: number, value?: "equal") {
  const stored = (call: number, payload: object) =>
    createdFeedback(from.acme, project, {
      weave_ref: callRef(project, uuid(call)),
      feedback_type: "playground.vote",
      payload: { is_blind: true, over: [], under: [], equal: [], models: ["a", "b"], ...payload },
    })
  if (value === "equal") {
    await stored(better, { value, equal: [uuid(worse)] })
    await stored(worse, { value, equal: [uuid(better)] })
    return
  }
  await stored(better, { value: "better", over: [uuid(worse)] })
  await stored(worse, { value: "worse", under: [uuid(better)] })
}

const answers = (lines: { messages: { content: string }[] }[]) =>
  lines.map(({ messages }) => messages.map(({ content }) => content))

describe("best and worst of a group by score", () => {
  test("the dry run says pairs, ties and tokens; the job has the two lines of each pair, the better one first", async () => {
    const world = await from.world()
    const { project, model } = world
    await from.store(project, [
      { question: "a", answer: "fair" },
      { question: "a", answer: "poor" },
      { question: "a", answer: "good" },
      { question: "b", answer: "one" },
      { question: "b", answer: "two" },
      { question: "c", answer: "alone" },
      { question: "d", answer: "no score" },
      { question: "a", answer: "good" },
    ])
    for (const [call, score] of [
      [1, 0.5],
      [2, 0],
      [3, 1],
      [4, 1],
      [5, 1],
      [6, 1],
      [8, 1],
    ] as const) {
      await from.score(project, call, score)
    }
    const body = bodyOf(world, byScore, { target: { beta: 0.3 }, config: { batch_size: 4, learning_rate: 0.001 } })
    const answer = await from.dry(body)
    expect(answer).toMatchObject({
      kind: "dpo",
      read: 8,
      rows: 2,
      pairs: 1,
      groups: 3,
      groups_without_contrast: 1,
      groups_of_one: 1,
      corrected: 0,
      tokens_are_estimated: true,
      preview: [{ id: uuid(3), question: "a", answer: "good", rejected: "poor", is_corrected: false, score: 1 }],
      warnings: [],
      time: { seconds: null, reason: "no dpo job of heddle/tiny has ended here yet" },
    })
    expect(causes(answer)).toEqual({ between: 1, tie: 2, no_other: 1, no_score: 1, repeated: 1 })
    expect(answer.drops.find(({ cause }) => cause === "tie")).toEqual({
      cause: "tie",
      reason: "Neither answer is better than the other.",
      count: 2,
      examples: [
        { id: uuid(5), detail: `call ${uuid(4)} has the same score` },
        { id: uuid(4), detail: "all 2 answers to its question have the score 1" },
      ],
    })
    expect(answer.trained_tokens).toBeGreaterThan(0)
    expect(answer.trained_tokens).toBeLessThan(answer.tokens)

    const { job, lines, config } = await from.made(body)
    const { time: _, preview: __, warnings: ___, object: ____, ...summary } = answer
    expect(job).toMatchObject({ kind: "dpo", summary, warnings: [] })
    expect(config).toEqual({
      kind: "dpo",
      engine: { batch_size: 4, learning_rate: 0.001, beta: 0.3, reference: "start" },
      kl_reference: null,
    })
    expect(lines.map(({ group, index }) => [group, index])).toEqual([
      [0, 0],
      [0, 1],
    ])
    expect(answers(lines)).toEqual([
      ["a", "good"],
      ["a", "poor"],
    ])
    const { data } = await from.rowsOf(job.id)
    expect(data).toMatchObject([
      { row: 0, group: 0, index: 0, call_id: uuid(3), score: 1 },
      { row: 1, group: 0, index: 1, call_id: uuid(2), score: 0 },
    ])
    expect((await from.usesOf(project, { call_ids: [uuid(2)] })).uses).toMatchObject([
      { training_job_id: job.id, row: 1, group: 0, index: 1 },
    ])
    expect(await from.jobsOf(model)).toBe(1)
  })
})

describe("votes", () => {
  test("a vote makes a pair of the preferred answer and the other; ties and answers without votes are counted", async () => {
    const world = await from.world()
    const { project } = world
    await from.store(project, [
      { question: "a", answer: "first" },
      { question: "a", answer: "second" },
      { question: "b", answer: "third" },
      { question: "b", answer: "fourth" },
      { question: "c", answer: "nobody asked" },
      { question: "d", answer: "fifth" },
      { question: "e", answer: "sixth" },
    ])
    await vote(project, 2, 1)
    await vote(project, 3, 4, "equal")
    await vote(project, 6, 7)
    const answer = await from.dry(bodyOf(world, { from: "vote" }))
    expect(answer).toMatchObject({ read: 7, rows: 2, pairs: 1, groups: null, groups_of_one: null })
    expect(causes(answer)).toEqual({ tie: 2, other_question: 1, no_other: 2 })
    const { job, lines } = await from.made(bodyOf(world, { from: "vote" }, { target: { reference: "base" } }))
    expect(answers(lines)).toEqual([
      ["a", "second"],
      ["a", "first"],
    ])
    const { data } = await from.rowsOf(job.id)
    expect(data.map(({ feedback_ids }) => feedback_ids.length)).toEqual([1, 1])
  })

  test("a preferred call whose rival is not in the source says which is missing", async () => {
    const world = await from.world()
    await from.store(world.project, [
      { question: "a", answer: "first" },
      { question: "a", answer: "second" },
    ])
    await vote(world.project, 1, 2)
    const body = bodyOf(world, { from: "vote" }, { source: { filter: { call_ids: [uuid(1)] } } })
    expect((await from.dry(body)).drops).toEqual([
      {
        cause: "no_other",
        reason: "There is no other answer to compare it with.",
        count: 1,
        examples: [{ id: uuid(1), detail: `call ${uuid(2)}, to which it was preferred, is not among the rows` }],
      },
    ])
    expect(await from.acme.post(fromSource, body)).toMatchObject({
      status: 422,
      body: {
        detail: [
          {
            loc: ["body", "target"],
            msg: "nothing of the 1 rows is left to train on. 1: There is no other answer to compare it with.",
          },
        ],
      },
    })
    expect(await from.jobsOf(world.model)).toBe(0)
  })
})

describe("two labels", () => {
  test("of a queue: the labelled text is better than the output, and equal ones make no pair", async () => {
    const world = await from.world()
    const { project } = world
    const better = await newSpec(from.acme, project, "better", { type: "string" })
    const queue = await newQueue(from.acme, project, { scorer_refs: [better] })
    await from.store(
      project,
      ["a", "b", "c"].map((question) => ({ question, answer: `${question}!` })),
    )
    const lead = new QueueUser(from.acme, project, queue)
    await lead.add([1, 2, 3].map(uuid))
    const items = await lead.itemIds()
    for (const [call, value] of [
      [1, "A"],
      [2, "b!"],
    ] as const) {
      await createdFeedback(from.acme, project, {
        weave_ref: callRef(project, uuid(call)),
        feedback_type: "wandb.annotation.better",
        annotation_ref: better,
        queue_id: queue,
        payload: { value },
      })
    }
    for (const item of items) await lead.moved(item, "completed")
    const body = bodyOf(
      world,
      { from: "fields", chosen: "label.better" },
      { source: { kind: "queue", queue_id: queue } },
    )
    const answer = await from.dry(body)
    expect(answer).toMatchObject({ rows: 2, pairs: 1, preview: [{ question: "a", answer: "A", rejected: "a!" }] })
    expect(causes(answer)).toEqual({ tie: 1, not_labelled: 1 })
    const { lines, job } = await from.made(body)
    expect(answers(lines)).toEqual([
      ["a", "A"],
      ["a", "a!"],
    ])
    expect((await from.rowsOf(job.id)).data.map(({ call_id }) => call_id)).toEqual([uuid(1), uuid(1)])
  })

  test("of a dataset: two fields of each row make a pair", async () => {
    const world = await from.world()
    await publishDataset(from.acme, world.project, [
      { prompt: "a", chosen: "yes", rejected: "no" },
      { prompt: "b", chosen: [{ role: "assistant", content: "1" }], rejected: [{ role: "assistant", content: "2" }] },
      { prompt: "c", chosen: "yes", rejected: "" },
    ])
    const source = { kind: "dataset", project_id: world.project, object_id: "questions" }
    const body = {
      model_id: world.model,
      source,
      target: {
        kind: "dpo",
        mapping: { messages: "row.prompt" },
        pairs: { from: "fields", chosen: "row.chosen", rejected: "row.rejected" },
      },
    }
    expect(causes(await from.dry(body))).toEqual({ no_other: 1 })
    const { lines } = await from.made(body)
    expect(answers(lines)).toEqual([
      ["a", "yes"],
      ["a", "no"],
      ["b", "1"],
      ["b", "2"],
    ])
  })
})

test.each([
  [
    { from: "fields" },
    {},
    ["body", "target", "pairs"],
    "name a field with the better answer in chosen, one with the worse in rejected, or both; the row's own answer takes the place of one",
  ],
  [
    { from: "fields", chosen: "output.a", rejected: "output.a" },
    {},
    ["body", "target", "pairs", "rejected"],
    '"output.a" is chosen, too; name another field',
  ],
  [
    byScore,
    { config: { learning_rate: [0.1, 0.2] } },
    ["body", "config", "learning_rate"],
    "it is a list; dpo takes one number for all of its steps",
  ],
  [
    { from: "vote" },
    { source: { kind: "rollouts" } },
    ["body", "target", "pairs", "from"],
    "a vote prefers one call to others, and says nothing of rollouts; make pairs from score or fields",
  ],
])("%j %j is refused, and nothing is stored", async (pairs, more, loc, msg) => {
  const world = await from.world()
  for (const url of [fromSource, `${fromSource}/dry-run`]) {
    expect(await from.acme.post(url, bodyOf(world, pairs, more))).toMatchObject({
      status: 422,
      body: { detail: [{ loc, msg }] },
    })
  }
  expect(await from.jobsOf(world.model)).toBe(0)
})

test("beta of nothing is refused, and settings without an effect are named", async () => {
  const world = await from.world()
  const refused = await from.acme.post(`${fromSource}/dry-run`, bodyOf(world, byScore, { target: { beta: 0 } }))
  expect(refused.status).toBe(422)
  const config = { assistant_turns: "last", surprise: 1 }
  const answer = await from.dry(bodyOf(world, byScore, { config, experimental_config: { learning_rate: 1 } }))
  expect(answer.warnings).toEqual([
    "config.assistant_turns has no effect on DPO jobs",
    "config.surprise has no effect on DPO jobs",
    "experimental_config.learning_rate has no effect on DPO jobs",
  ])
})
