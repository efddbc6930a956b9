import { expect, test } from "vitest"
import { toldCalls, trainRequest } from "./train-request.ts"

const now = Date.parse("2026-03-01T12:00:00Z")
const request = (search: Parameters<typeof trainRequest>[0], model: string | null = "m") =>
  trainRequest(search, "e/p", model, now)

test("calls that were picked, or that the filter of traces finds in its range of time", () => {
  expect(request({ ids: ["a", "b"] })).toEqual({
    body: {
      model_id: "m",
      source: { kind: "calls", project_id: "e/p", filter: { call_ids: ["a", "b"] } },
      target: { kind: "sft" },
      config: {},
    },
  })
  expect(request({ since: "1h", scope: "all" })).toMatchObject({
    body: {
      source: { query: { $expr: { $and: [{ $gte: [{ $getField: "started_at" }, { $literal: 1772362800 }] }] } } },
    },
  })
  expect(request({})).toMatchObject({ body: { source: { filter: { trace_roots_only: true } } } })
})

test("queues, evaluations and datasets", () => {
  const source = (search: Parameters<typeof trainRequest>[0]) => request(search)
  expect(source({ from: "queue", queue: "q" })).toMatchObject({ body: { source: { kind: "queue", queue_id: "q" } } })
  expect(source({ from: "evaluation", runs: ["r"] })).toMatchObject({
    body: { source: { kind: "evaluation", evaluation_call_ids: ["r"] } },
  })
  expect(source({ from: "dataset", dataset: "d", version: "v1" })).toMatchObject({
    body: { source: { kind: "dataset", object_id: "d", digest: "v1" } },
  })
  expect(source({ from: "queue" })).toEqual({ missing: "Choose a queue." })
})

test("rollouts: those that were picked, or all of a group, a step and a range of time, with the labels of a queue", () => {
  const source = (search: Parameters<typeof trainRequest>[0]) => {
    const made = request({ from: "rollouts", mode: "rl", score: ["rollout.reward"], ...search })
    return "body" in made ? made.body.source : made
  }
  expect(source({})).toEqual({ kind: "rollouts", project_id: "e/p" })
  expect(source({ rollouts: ["a-1", "a-2"] })).toMatchObject({ rollout_ids: ["a-1", "a-2"] })
  expect(source({ rolloutGroup: "order-17", step: 0, queue: "q", since: "1h" })).toEqual({
    kind: "rollouts",
    project_id: "e/p",
    group: "order-17",
    step: 0,
    queue_id: "q",
    since: "2026-03-01T11:00:00.000Z",
  })
  expect(source({ since: "2026-02-01T10:00", until: "2026-02-02T10:00" })).toMatchObject({
    since: expect.stringMatching(/^2026-02-01T\d\d:00:00\.000Z$/),
    until: expect.stringMatching(/^2026-02-02T\d\d:00:00\.000Z$/),
  })
})

test("scores with weights and values, the least of them, corrections and the best of each question", () => {
  const search = { ids: ["a"], score: ["label.tone*0.5", "label.done"], values: ["yes=1", "no=0"], min: 0.5 }
  const values = { yes: 1, no: 0 }
  const score = [
    { field: "label.tone", weight: 0.5, values },
    { field: "label.done", values },
  ]
  expect(request({ ...search, fix: ["label.better"], group: "question", rate: "1e-4", batch: 4 })).toMatchObject({
    body: {
      target: { kind: "sft", score, min_score: 0.5, corrections: ["label.better"], best_of: "question" },
      config: { learning_rate: 0.0001, batch_size: 4 },
    },
  })
  expect(request({ ...search, mode: "rl", group: "input" })).toMatchObject({
    body: { target: { kind: "rl", reward: score, group_by: "input" }, experimental_config: {} },
  })
})

test("pairs come from scores, votes or two fields; the rest has the defaults of the server", () => {
  const dpo = { ids: ["a"], mode: "dpo" as const }
  const pairs = (search: Parameters<typeof trainRequest>[0]) => {
    const made = request({ ...dpo, ...search })
    return "body" in made && made.body.target.kind === "dpo" ? made.body.target.pairs : made
  }
  expect(request({ ...dpo, score: ["x*2"], rate: "1e-5", batch: 4, min: 1, fix: ["y"], group: "input" })).toMatchObject(
    {
      body: {
        target: { kind: "dpo", pairs: { from: "score", score: [{ field: "x", weight: 2 }] } },
        config: { learning_rate: 0.00001, batch_size: 4 },
      },
    },
  )
  expect(request({ ...dpo, score: ["x"], beta: "0.5", reference: "base" })).toMatchObject({
    body: { target: { beta: 0.5, reference: "base" } },
  })
  // What was written into fields that are not shown now counts for nothing.
  expect(pairs({ pairs: "vote", values: ["broken"] })).toEqual({ from: "vote" })
  expect(pairs({ pairs: "vote", vote: "feedback.[mine].payload" })).toEqual({
    from: "vote",
    field: "feedback.[mine].payload",
  })
  expect(pairs({ pairs: "fields", chosen: "label.better" })).toEqual({ from: "fields", chosen: "label.better" })
  expect(pairs({ pairs: "fields", rejected: "label.worse" })).toEqual({ from: "fields", rejected: "label.worse" })
})

test.each([
  [{ ids: ["a"], mode: "dpo" as const }, "Name the field that tells the better answer."],
  [{ ids: ["a"], mode: "dpo" as const, pairs: "fields" as const }, "Name a field with the better or the worse answer."],
  [{ ids: ["a"], mode: "dpo" as const, score: ["x"], beta: "0" }, "Beta is no number above 0."],
  [{ ids: ["a"], mode: "rl" as const }, "Name the field that the reward is."],
  [{ ids: ["a"], score: ["x"], values: ["yes"] }, "“yes” is not of the form text=number."],
  [{ ids: ["a"], score: ["x*much"] }, "“x*much” is not of the form field*weight."],
  [{ ids: ["a"], score: ["x* "] }, "“x* ” is not of the form field*weight."],
  [{ ids: ["a"], rate: "fast" }, "The learning rate is no number above 0."],
])("what is missing is said: %j", (search, missing) => {
  expect(request(search)).toEqual({ missing })
})

test("a model is needed", () => {
  expect(request({ ids: ["a"] }, null)).toEqual({ missing: "Choose the model that learns." })
})

test("the calls that anything was said of, among those that are trained on", () => {
  const told = { $not: [{ $eq: [{ $getField: "feedback.[*].id" }, { $literal: null }] }] }
  expect(toldCalls({ q: "op is answer", since: "1h" }, "e/p", now)).toEqual({
    filter: { trace_roots_only: true, op_names: ["answer", "weave:///e/p/op/answer:*"] },
    query: { $expr: { $and: [told, { $gte: [{ $getField: "started_at" }, { $literal: 1772362800 }] }] } },
  })
  expect(toldCalls({ ids: ["a"] }, "e/p", now)).toEqual({
    filter: { call_ids: ["a"] },
    query: { $expr: { $and: [told] } },
  })
})
