/** More feedback than an answer, or one reading, can hold: law 8. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { filledQueue } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { callRef, createdFeedback } from "../support/feedback-items.ts"

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
      from feedback array join range(270) as number where id = 'first'`,
  )
  const all = await opened.acme.post("/feedback/query", { project_id })
  expect([all.status, all.body]).toEqual([
    502,
    { error_type: "query_memory", reason: expect.stringContaining("narrow it with a filter or a limit") },
  ])
  const page = await opened.acme.post("/feedback/query", { project_id, limit: 10 })
  expect([page.status, (page.body as { total_count: number }).total_count]).toEqual([200, 271])
  const narrow = await opened.acme.post("/feedback/query", { project_id, fields: ["id"] })
  expect([narrow.status, (narrow.body as { result: object[] }).result.length]).toEqual([200, 271])
})

/** Stores for each of the refs so many copies of the feedback with this id, of other types and with a payload of 1 MB. */
async function storeCopies(id: string, refs: readonly string[], count: number): Promise<void> {
  await opened.app.stores.traces.command(
    `insert into feedback (project_id, id, weave_ref, wb_user_id, feedback_type, queue_id, created_at, payload)
      select project_id, concat(ref, toString(number)), ref, wb_user_id, concat('wandb.annotation.f', toString(number)),
        queue_id, now64(6), concat('[{"value":"', repeat('x', 1000000), '"}]')
      from (select *, arrayJoin({refs:Array(String)}) as ref from feedback where id = {id:String})
      array join range({count:UInt64}) as number`,
    { id, refs, count },
  )
}

const calls = Array.from({ length: 24 }, (_, index) => uuid(index + 1))

test("law 8: calls 3.2: a stream of calls brings all of their feedback, however much it is together", async () => {
  const { project, caller } = await filledQueue(opened.acme, calls.length)
  const { id } = await createdFeedback(caller, project)
  await storeCopies(
    id,
    calls.map((call) => callRef(project, call)),
    12,
  )
  const answer = await opened.app.server.inject({
    method: "POST",
    url: "/calls/stream_query",
    headers: { authorization: `Bearer ${caller.key}` },
    payload: { project_id: project, include_feedback: true },
    payloadAsStream: true,
  })
  expect(answer.statusCode).toBe(200)
  const counts = { lines: 0, bytes: 0 }
  for await (const piece of answer.stream() as AsyncIterable<Buffer>) {
    counts.lines += piece.filter((byte) => byte === 0x0a).length
    counts.bytes += piece.length
  }
  expect(counts.lines).toBe(calls.length)
  expect(counts.bytes).toBeGreaterThan(calls.length * 12 * 1_000_000)
})

test("law 8: the labels of a queue are read, however much they are together", async () => {
  const user = await filledQueue(opened.acme, calls.length)
  for (const item of await user.itemIds()) await user.moved(item, "completed")
  const { id } = await createdFeedback(opened.acme, user.project, { queue_id: user.queue })
  await storeCopies(
    id,
    calls.map((call) => callRef(user.project, call)),
    15,
  )
  const agreement = await opened.acme.get(`${user.url}/agreement${user.inProject}`)
  expect([agreement.status, (agreement.body as { fields: object[] }).fields.length]).toEqual([200, 15])
  const { status, body } = await user.post("/labels/query", { limit: 2 })
  const { items } = body as { items: { item: { call_id: string }; labels: object[] }[] }
  expect([status, items.map(({ item, labels }) => [item.call_id, labels.length])]).toEqual([
    200,
    [
      [uuid(1), 15],
      [uuid(2), 15],
    ],
  ])
})
