/** Queries for more feedback than an answer can hold: law 8. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
})
afterAll(() => opened.close())

test("a query for too much of it is refused, a narrower one is answered", async () => {
  const project_id = opened.acme.newProject()
  const first = { project_id, id: "first", weave_ref: "x", feedback_type: "t", payload: { v: 1 } }
  expect((await opened.acme.post("/feedback/create", first)).status).toBe(200)
  await opened.app.stores.traces.command(
    `insert into feedback (project_id, id, weave_ref, feedback_type, created_at, payload)
      select project_id, toString(number), 'x', 't', now64(6), concat('[{"v":"', repeat('x', 1000000), '"}]')
      from feedback array join range(300) as number where id = 'first'`,
  )
  const all = await opened.acme.post("/feedback/query", { project_id })
  expect([all.status, all.body]).toEqual([
    502,
    { error_type: "query_memory", reason: expect.stringContaining("narrow it with a filter or a limit") },
  ])
  const page = await opened.acme.post("/feedback/query", { project_id, limit: 10 })
  expect([page.status, (page.body as { total_count: number }).total_count]).toEqual([200, 301])
  const narrow = await opened.acme.post("/feedback/query", { project_id, fields: ["id"] })
  expect([narrow.status, (narrow.body as { result: object[] }).result.length]).toEqual([200, 301])
})
