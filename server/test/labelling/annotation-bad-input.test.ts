/** Bad input to annotation queues is answered with 4xx and the contract's body, and stores nothing. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { filledQueue, newQueue, QueueUser, storedCalls } from "../support/annotation-queues.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let user: QueueUser
beforeAll(async () => {
  opened = await openEvaluationApp()
  user = await filledQueue(opened.acme, 2)
})
afterAll(() => opened.close())

const texts = ["\u0000", "\ud800", "x".repeat(100_000), "'; drop table annotation_items; --", "__proto__"]
const numbers = [-1, 1.5, 2 ** 53, Number.MAX_VALUE]

test("odd texts and numbers in every place: no 5xx, and the queue is as it was", async () => {
  const before = await user.items()
  const item = before[0]?.id ?? ""
  const statuses = new Set<number>()
  const send = async (answer: ReturnType<QueueUser["post"]>) => {
    const { status, body } = await answer
    statuses.add(status)
    expect(status).toBeLessThan(500)
    if (status !== 200)
      expect(Object.keys(body as object)).toEqual(expect.arrayContaining([expect.stringMatching(/^(reason|detail)$/)]))
  }
  for (const odd of [...texts, ...numbers, null, [], {}]) {
    await send(user.post("/items/query", { filter: { call_id: odd, id: odd, call_op_name: odd } }))
    await send(user.post("/items/query", { limit: odd, offset: odd, sort_by: [{ field: odd, direction: "asc" }] }))
    await send(user.post("/items", { call_ids: [odd], display_fields: [odd] }))
    await send(user.post("/items/next", { lease_seconds: odd === null ? "" : odd }))
    await send(user.post(`/items/${item}/progress`, { annotation_state: odd }))
    await send(user.post("/labels/query", { after: odd, limit: odd }))
    await send(opened.acme.post("/annotation_queues/stats", { project_id: user.project, queue_ids: [odd] }))
    await send(opened.acme.post("/annotation_queues/query", { project_id: user.project, name: odd, limit: odd }))
    const path = encodeURIComponent((typeof odd === "string" ? odd : JSON.stringify(odd)).slice(0, 500).toWellFormed())
    await send(opened.acme.get(`/annotation_queues/${path}${user.inProject}`))
    await send(user.post(`/items/${path}/progress`, { annotation_state: "completed" }))
    await send(opened.acme.put(`${user.url}/items/${path}/lease`, { project_id: user.project }))
    await send(opened.acme.delete(`${user.url}/items/${item}/final_labels/${path}${user.inProject}`))
    const label = { project_id: user.project, value: odd }
    await send(opened.acme.put(`${user.url}/items/${item}/final_labels/${path}`, label))
    await send(opened.acme.put(user.url, { project_id: odd, name: "x" }))
  }
  expect(statuses).toEqual(new Set([200, 400, 404, 422]))
  expect(await user.items()).toEqual(before)
})

test("bodies that are no JSON objects, and nesting without end", async () => {
  for (const body of ["", "{", "[]", "null", "1", `{"project_id":${"[".repeat(10_000)}${"]".repeat(10_000)}}`]) {
    const { status } = await opened.acme.post(`${user.url}/items/next`, body)
    expect([400, 413, 422]).toContain(status)
  }
})

test("calls whose names PostgreSQL has no text for are added all the same", async () => {
  const project = opened.acme.newProject()
  const names = ["a\u0000b", "c\ud800d", "e"]
  const calls = await storedCalls(opened.acme, project, 3, (n) => ({ opName: names[n - 1] ?? "" }))
  const odd = new QueueUser(opened.acme, project, await newQueue(opened.acme, project))
  expect(await odd.post("/items", { call_ids: calls, display_fields: [] })).toMatchObject({
    status: 200,
    body: { added_count: 3, duplicates: 0 },
  })
  expect((await odd.items()).map(({ call_op_name }) => call_op_name)).toEqual(["a\ufffdb", "c\ufffdd", "e"])
})
