/** Evaluations with the npm weave client. */
import { beforeAll, beforeEach, expect, inject, test } from "vitest"
import * as weave from "weave"
import { covers } from "./covers.ts"
import { named, newProject, stored, useServer, type WeaveClient } from "./weave.ts"

let client: WeaveClient
beforeAll(() => useServer(inject("server")))
beforeEach(async () => {
  client = await newProject()
})

const examples = [
  { a: 3, b: 4, expected: 7 },
  { a: 1, b: 1, expected: 3 },
]

test(`${covers("npm-weave-evaluation")} an evaluation leaves a tree of calls`, async () => {
  const correct = weave.op(async function correct({
    modelOutput,
    datasetRow,
  }: {
    modelOutput: number
    datasetRow: { expected: number }
  }) {
    return modelOutput === datasetRow.expected
  })
  const model = weave.op(async function adder({ datasetRow }: { datasetRow: { a: number; b: number } }) {
    return datasetRow.a + datasetRow.b
  })
  const evaluation = new weave.Evaluation({
    name: "sums-evaluation",
    dataset: new weave.Dataset({ name: "sums", rows: examples }),
    scorers: [correct],
  })
  const summary = await evaluation.evaluate({ model })
  expect(summary["correct"]).toEqual({ true_count: 1, true_fraction: 0.5 })
  const calls = await stored(client)
  const [root] = named(calls, "Evaluation.evaluate")
  expect(root?.parent_id).toBe(null)
  expect(named(calls, "Evaluation.predictAndScore").map((call) => call.parent_id)).toEqual([root?.id, root?.id])
  expect(new Set<unknown>(named(calls, "adder").map((call) => call.output))).toEqual(new Set([2, 7]))
  expect(named(calls, "correct")).toHaveLength(2)
  expect(new Set(calls.map((call) => call.trace_id)).size).toBe(1)
})

test(`${covers("npm-weave-evaluation")} an evaluation logged by hand, with its scores as feedback`, async () => {
  const logger = new weave.EvaluationLogger({ name: "by-hand", dataset: "my-data", model: { name: "my-model" } })
  for (const { a, b, expected } of examples) {
    const prediction = logger.logPrediction({ a, b }, a + b)
    await prediction.logScore("correct", a + b === expected)
    await prediction.finish()
  }
  await logger.logSummary()
  const calls = await stored(client)
  const [root] = named(calls, "Evaluation.evaluate")
  expect(root?.ended_at).not.toBe(null)
  expect(JSON.stringify(root?.output)).toContain('"true_count":1')
  const rows = named(calls, "Evaluation.predict_and_score")
  expect(rows).toHaveLength(2)
  const answer = await fetch(`${process.env["WF_TRACE_SERVER_URL"]}/feedback/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env["WANDB_API_KEY"]}` },
    body: JSON.stringify({ project_id: client.projectId }),
  })
  const { result } = (await answer.json()) as { result: { feedback_type: string; payload: { output: boolean } }[] }
  expect(result.map((row) => row.feedback_type)).toEqual(["wandb.runnable.correct", "wandb.runnable.correct"])
  expect(new Set(result.map((row) => row.payload.output))).toEqual(new Set([false, true]))
})
