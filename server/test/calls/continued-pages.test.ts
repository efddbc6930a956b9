/** Lists of calls that are read page after page, while calls come and go: calls 3.4 and 3.7. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type StoredCall, storeCalls } from "../support/stored-calls.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const newestFirst = { sort_by: [{ field: "started_at", direction: "desc" }] }
const pageSize = 300

/** Three calls begin at the same moment. */
const momentOf = (index: number) => `2026-02-01 00:00:00.${100_000 + Math.floor(index / 3)}`

function call(id: string, started_at: string): StoredCall {
  return { id, started_at, ended_at: "2026-02-01 00:01:00.000000", trace_id: "t", op_name: "op", inputs: "{}" }
}

async function projectOf(count: number): Promise<string> {
  const project = opened.acme.newProject()
  const calls = Array.from({ length: count }, (_, index) => call(`c${String(index).padStart(4, "0")}`, momentOf(index)))
  await storeCalls(opened.app, project, calls)
  return project
}

async function idsOf(project: string, request: object = {}): Promise<string[]> {
  const lines = await opened.acme.lines("/calls/stream_query", { project_id: project, columns: ["id"], ...request })
  return (lines as { id: string }[]).map(({ id }) => id)
}

const pageAt = (project: string, offset: number, request: object = {}) =>
  idsOf(project, { ...request, limit: pageSize, offset })

test.each([
  ["the oldest first", {}],
  ["the newest first", newestFirst],
  ["of those of one operation", { ...newestFirst, filter: { op_names: ["op"] } }],
  ["with payloads", { columns: ["inputs"] }],
])("pages one after the other are the whole list, where calls begin together too: %s", async (_, request) => {
  const project = await projectOf(1_500)
  const whole = await idsOf(project, request)
  expect(whole).toHaveLength(1_500)
  const pages: string[] = []
  for (let offset = 0; offset < 1_500; offset += pageSize) pages.push(...(await pageAt(project, offset, request)))
  expect(pages).toEqual(whole)
  // One that begins anywhere, and one further back.
  for (const offset of [1_001, 700, 1_499]) {
    expect(await pageAt(project, offset, request)).toEqual(whole.slice(offset, offset + pageSize))
  }
})

test("what others add or delete before a page neither repeats a call nor skips one", async () => {
  const project = await projectOf(1_200)
  const whole = await idsOf(project)
  await pageAt(project, 0)
  await pageAt(project, pageSize)
  const earlier = [0, 1, 2].map((index) => call(`b${index}`, "2026-01-01 00:00:00.000000"))
  await storeCalls(opened.app, project, earlier)
  await storeCalls(opened.app, project, [{ id: whole[5] ?? "", deleted_at: "2026-03-01 00:00:00" }])
  expect(await pageAt(project, 2 * pageSize)).toEqual(whole.slice(2 * pageSize, 3 * pageSize))
  // Who begins anew meets them.
  expect((await pageAt(project, 0)).slice(0, 3)).toEqual(["b0", "b1", "b2"])
  expect(await pageAt(project, 3 * pageSize)).toEqual(whole.slice(3 * pageSize - 2, 4 * pageSize - 2))
})

test("a page that is asked for after calls were deleted is counted anew", async () => {
  const project = await projectOf(1_200)
  const whole = await idsOf(project)
  await pageAt(project, pageSize)
  const deleted = await opened.acme.post("/calls/delete", { project_id: project, call_ids: whole.slice(0, 10) })
  expect(deleted.body).toEqual({ num_deleted: 10 })
  expect(await pageAt(project, 2 * pageSize)).toEqual(whole.slice(2 * pageSize + 10, 3 * pageSize + 10))
})

test("whoever begins a list anew moves none of the pages that another user reads", async () => {
  const colleague = await opened.addColleague("reader")
  const project = await projectOf(1_500)
  const whole = await idsOf(project, newestFirst)
  const pages = [await pageAt(project, 0, newestFirst), await pageAt(project, pageSize, newestFirst)]
  const later = [0, 1, 2, 3, 4].map((index) => call(`n${index}`, "2026-03-01 00:00:00.000000"))
  await storeCalls(opened.app, project, later)
  const body = { project_id: project, columns: ["id"], limit: pageSize, offset: 0, ...newestFirst }
  const others = (await colleague.lines("/calls/stream_query", body)) as { id: string }[]
  expect(others.map(({ id }) => id).slice(0, 6)).toEqual([...later.map(({ id }) => id), whole[0]])
  for (const page of [2, 3, 4]) pages.push(await pageAt(project, page * pageSize, newestFirst))
  expect(pages.flat()).toEqual(whole)
})

test("a page that is still being read when calls are deleted does not bring back what was counted before", async () => {
  const project = await projectOf(1_500)
  const whole = await idsOf(project)
  await pageAt(project, pageSize)
  const answer = await opened.app.server.inject({
    method: "POST",
    url: "/calls/stream_query",
    headers: { authorization: `Bearer ${opened.acme.key}` },
    payload: { project_id: project, limit: pageSize, offset: 2 * pageSize },
    payloadAsStream: true,
  })
  await opened.acme.post("/calls/delete", { project_id: project, call_ids: whole.slice(0, 10) })
  let text = ""
  for await (const piece of answer.stream() as AsyncIterable<Buffer>) text += piece.toString()
  expect(text.split("\n").filter((line) => line !== "")).toHaveLength(pageSize)
  for (const offset of [2 * pageSize, 3 * pageSize]) {
    expect(await pageAt(project, offset)).toEqual(whole.slice(offset + 10, offset + 10 + pageSize))
  }
})

test("a page up to a moment has no call that was started again after it, and all that were started again before", async () => {
  const project = await projectOf(900)
  const whole = await idsOf(project, newestFirst)
  const [later = "", earlier = ""] = [whole[300], whole[2]]
  await storeCalls(opened.app, project, [call(later, "2026-03-01 00:00:00.000000")])
  await storeCalls(opened.app, project, [call(earlier, "2026-01-01 00:00:00.000000")])
  const until = Date.parse("2026-02-01T00:00:59Z") / 1000
  const query = { $expr: { $lte: [{ $getField: "started_at" }, { $literal: until }] } }
  const expected = [...whole.filter((id) => id !== later && id !== earlier), earlier]
  expect(await idsOf(project, { ...newestFirst, query })).toEqual(expected)
  for (const offset of [0, 100, 250, 400, 600, 899 - pageSize]) {
    const page = await pageAt(project, offset, { ...newestFirst, query })
    expect(page).toEqual(expected.slice(offset, offset + pageSize))
  }
})
