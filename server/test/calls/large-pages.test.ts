/** Answers with large values: calls, rows of tables, objects, and values that refs name. */
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { storeCalls } from "../support/stored-calls.ts"

const mebibyte = 1024 * 1024
const count = 24
const project = "acme/pages"
const numbers = Array.from({ length: count }, (_, index) => index)
const large = (number: number) => ({ number, text: "x".repeat(1.5 * mebibyte) })

let opened: EvaluationApp
let table: string
const rowDigests: string[] = []
beforeAll(async () => {
  opened = await openEvaluationApp()
  const calls = numbers.map((number) => ({
    id: uuid(number),
    started_at: `2026-01-02 03:04:${String(number).padStart(2, "0")}.000001`,
    trace_id: uuid(1),
    op_name: "op",
    inputs: JSON.stringify(large(number)),
  }))
  for (let from = 0; from < count; from += 8) await storeCalls(opened.app, project, calls.slice(from, from + 8))
  table = await makeTable()
  for (const number of numbers) {
    const obj = { project_id: project, object_id: `large-${number}`, val: large(number) }
    await created("/obj/create", { obj })
  }
  await created("/obj/create", {
    obj: { project_id: project, object_id: "rows", val: { rows: `weave:///${project}/table/${table}` } },
  })
})
afterAll(() => opened.close())

async function created(url: string, body: object): Promise<Record<string, unknown>> {
  const answer = await opened.acme.post(url, body)
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer.body as Record<string, unknown>
}

/** Makes a table of all rows, eight in a request; returns its digest. */
async function makeTable(): Promise<string> {
  const made = await created("/table/create", { table: { project_id: project, rows: [] } })
  let digest = String(made["digest"])
  for (let from = 0; from < count; from += 8) {
    const updates = numbers.slice(from, from + 8).map((number) => ({ append: { row: large(number) } }))
    const updated = await created("/table/update", { project_id: project, base_digest: digest, updates })
    digest = String(updated["digest"])
    rowDigests.push(...(updated["updated_row_digests"] as string[]))
  }
  return digest
}

/** Runs `work`; returns the length of each piece that is read from the stores meanwhile. */
async function piecesOf(work: () => Promise<void>): Promise<number[]> {
  const { traces, catalog } = opened.app.stores
  const pieces: number[] = []
  const kept = <T extends readonly unknown[]>(rows: T): T => {
    pieces.push(JSON.stringify(rows).length)
    return rows
  }
  const readRows = traces.rows.bind(traces)
  const executor = catalog.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  const spies = [
    vi.spyOn(traces, "rows").mockImplementation(async (...query: Parameters<typeof readRows>) => {
      const rows = await readRows(...query)
      return kept(rows)
    }),
    vi.spyOn(executor, "executeQuery").mockImplementation(async (...query: Parameters<typeof execute>) => {
      const result = await execute(...query)
      kept(result.rows)
      return result
    }),
  ]
  try {
    await work()
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return pieces
}

function expectPieces(pieces: readonly number[]): void {
  expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(36 * mebibyte)
  expect(Math.max(...pieces)).toBeLessThan(17 * mebibyte)
}

test.each([
  ["the first by time", { limit: count }],
  ["of a trace", { filter: { trace_ids: [uuid(1)] } }],
  ["by a sort", { sort_by: [{ field: "op_name", direction: "asc" }] }],
  ["by id", { filter: { call_ids: numbers.map(uuid) } }],
])("law 1: calls 3.4: large calls %s are read in pieces of at most 16 MiB", async (_, asked) => {
  let calls: unknown[] = []
  const pieces = await piecesOf(async () => {
    calls = await opened.acme.lines("/calls/stream_query", { project_id: project, ...asked })
  })
  expect(calls.map((call) => (call as { id: string }).id)).toEqual(numbers.map(uuid))
  expectPieces(pieces)
})

test.each([
  ["in their order", {}, numbers],
  ["of a page", { limit: count }, numbers],
  ["by a sort", { sort_by: [{ field: "number", direction: "desc" }] }, numbers.toReversed()],
] as const)("law 1: calls 6.2: large rows %s are read in pieces of at most 16 MiB", async (_, asked, expected) => {
  let rows: unknown[] = []
  const pieces = await piecesOf(async () => {
    rows = await opened.acme.lines("/table/query_stream", { project_id: project, digest: table, ...asked })
  })
  expect(rows.map((row) => (row as { val: { number: number } }).val.number)).toEqual(expected)
  expectPieces(pieces)
})

test("law 1: objects 3.3: large objects are read in pieces of at most 16 MiB", async () => {
  let objs: { val: { number: number } }[] = []
  const pieces = await piecesOf(async () => {
    const object_ids = numbers.map((number) => `large-${number}`)
    const answer = await opened.acme.post("/objs/query", { project_id: project, filter: { object_ids } })
    objs = (answer.body as { objs: typeof objs }).objs
  })
  expect(objs.map(({ val }) => val.number)).toEqual(numbers)
  expectPieces(pieces)
})

test("law 1: objects 9: what refs lead to is read in pieces of at most 16 MiB", async () => {
  const refs = [
    ...numbers.slice(0, 12).map((number) => `weave:///${project}/object/large-${number}:latest`),
    ...rowDigests.slice(12).map((digest) => `weave:///${project}/object/rows:latest/attr/rows/id/${digest}`),
  ]
  let vals: { number: number }[] = []
  const pieces = await piecesOf(async () => {
    const answer = await opened.acme.post("/refs/read_batch", { refs })
    vals = (answer.body as { vals: typeof vals }).vals
  })
  expect(vals.map(({ number }) => number)).toEqual(numbers)
  expectPieces(pieces)
})

test("law 4: objects 9: refs whose values are too large together are refused, also when they repeat one", async () => {
  const refs = Array.from({ length: 86 }, () => `weave:///${project}/object/large-0:latest`)
  const { status, body } = await opened.acme.post("/refs/read_batch", { refs })
  expect(status).toBe(413)
  expect(JSON.stringify(body)).toContain("134217728")
  const fewer = await opened.acme.post("/refs/read_batch", { refs: refs.slice(0, 20) })
  expect((fewer.body as { vals: unknown[] }).vals).toHaveLength(20)
})

test("law 8: calls 3.2: feedback on calls that is far larger than they are is read in pieces of at most 16 MiB", async () => {
  const [small, ids] = ["acme/noted", numbers.map((number) => uuid(2000 + number))]
  const calls = ids.map((id) => ({ id, started_at: "2026-01-02 03:04:05.000001", trace_id: id, op_name: "op" }))
  await storeCalls(opened.app, small, calls)
  const note = { project_id: small, feedback_type: "long", payload: { text: "x".repeat(0.9 * mebibyte) } }
  for (const id of ids) {
    const batch = [1, 2].map(() => ({ ...note, weave_ref: `weave:///${small}/call/${id}` }))
    await created("/feedback/batch/create", { batch })
  }
  let lines: { id: string; summary: { weave: { feedback: (typeof note)[] } } }[] = []
  const pieces = await piecesOf(async () => {
    lines = (await opened.acme.lines("/calls/stream_query", {
      project_id: small,
      include_feedback: true,
    })) as typeof lines
  })
  expect(lines.map(({ id }) => id)).toEqual(ids)
  for (const { summary } of lines) {
    expect(summary.weave.feedback.map(({ payload }) => payload)).toEqual([note.payload, note.payload])
  }
  expectPieces(pieces)
  // Not one by one.
  expect(pieces.filter((bytes) => bytes > mebibyte).length).toBeLessThan(count / 3)
})

test("law 1: calls 3.9: a large value that refs of many calls name is put into a few of them at a time", async () => {
  const model = `weave:///${project}/object/large-0:latest`
  const calls = Array.from({ length: count }, (_, index) => ({
    id: uuid(1000 + index),
    started_at: "2026-01-02 03:04:05.000001",
    trace_id: uuid(1000 + index),
    op_name: "op",
    inputs: JSON.stringify({ model }),
  }))
  await storeCalls(opened.app, "acme/expanded", calls)
  const answer = await opened.app.server.inject({
    method: "POST",
    url: "/calls/stream_query",
    headers: { authorization: `Basic ${Buffer.from(`api:${opened.acme.key}`).toString("base64")}` },
    payload: { project_id: "acme/expanded", expand_columns: ["inputs.model"] },
    payloadAsStream: true,
  })
  expect(answer.statusCode).toBe(200)
  const pieces: number[] = []
  let lines = 0
  for await (const piece of answer.stream() as AsyncIterable<Buffer>) {
    pieces.push(piece.length)
    lines += piece.filter((byte) => byte === 0x0a).length
  }
  expect(lines).toBe(count)
  expectPieces(pieces)
})
