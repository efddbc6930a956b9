/** A score is a call and a feedback that names the call; both are stored, or neither (evaluation-store-objects 7). */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { runProject } from "../support/evaluation-runs.ts"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
})
afterAll(() => opened.close())

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

test.each([
  ["that is too deep for a call", nested(197), 413],
  ["that is too large for feedback", `"${"x".repeat(1_100_000)}"`, 400],
])("a value %s leaves neither call nor feedback", async (_, value, status) => {
  const project = runProject(opened.acme)
  const prediction = await project.prediction({})
  const fields = JSON.stringify({ prediction_id: prediction, scorer: project.ref("scorer") })
  expect((await project.post("scores", `${fields.slice(0, -1)},"value":${value}}`)).status).toBe(status)
  expect(await project.lines("scores")).toEqual([])
  const { body } = await opened.acme.post("/feedback/query", { project_id: project.name })
  expect((body as { result: unknown[] }).result).toEqual([])
  expect((await project.post("scores", `${fields.slice(0, -1)},"value":${nested(100)}}`)).status).toBe(200)
})
