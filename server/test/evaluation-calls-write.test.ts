/** Writing calls over the public routes: evaluation-store-calls 1.5 and 2. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "./support/evaluation-app.ts"

let app: EvaluationApp
beforeAll(async () => {
  app = await openEvaluationApp()
})
afterAll(() => app.close())

const id = (number: number) => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`
const trace = id(999)
const started = "2026-01-02T03:04:05.123456Z"

function start(project: string, number: number, more: object = {}) {
  return {
    project_id: project,
    id: id(number),
    trace_id: trace,
    op_name: "op",
    started_at: started,
    attributes: {},
    inputs: { n: number },
    ...more,
  }
}

function end(project: string, number: number, more: object = {}) {
  return {
    project_id: project,
    id: id(number),
    ended_at: "2026-01-02T03:04:06.000001Z",
    summary: {},
    output: "out",
    ...more,
  }
}

const complete = (project: string, number: number, more: object = {}) => ({
  ...start(project, number),
  ...end(project, number),
  ...more,
})

async function read(project: string, number: number): Promise<Record<string, unknown> | null> {
  const answer = await app.acme.post("/call/read", { project_id: project, id: id(number) })
  expect(answer.status).toBe(200)
  return (answer.body as { call: Record<string, unknown> | null }).call
}

test("calls 2.2: start answers its ids, end answers {}, and both are visible at once", async () => {
  const project = app.acme.newProject()
  const begun = await app.acme.post("/call/start", { start: start(project, 1) })
  expect([begun.status, begun.body]).toEqual([200, { id: id(1), trace_id: trace }])
  expect(await read(project, 1)).toMatchObject({ started_at: started, ended_at: null, output: null, exception: null })
  const ended = await app.acme.post("/call/end", { end: end(project, 1) })
  expect([ended.status, ended.body]).toEqual([200, {}])
  expect(await read(project, 1)).toMatchObject({ ended_at: "2026-01-02T03:04:06.000001Z", output: "out" })
})
