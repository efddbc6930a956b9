/** Exporting calls as files in each format. */
import { parquetMetadata, parquetReadObjects } from "hyparquet"
import { zstdDecompressSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { publish, publishDataset } from "../support/judges.ts"
import { readMetrics } from "../support/metrics.ts"
import { storeCalls } from "../support/stored-calls.ts"

let world: EvaluationApp
beforeAll(async () => {
  world = await openEvaluationApp()
})
afterAll(() => world.close())

const odd = {
  id: "018f0000-0000-7000-8000-000000000001",
  trace_id: "t1",
  op_name: 'weave:///acme/p/op/a"b:v1',
  started_at: "2026-01-02 03:04:05.123456",
  ended_at: "2026-01-02 03:04:06.000000",
  inputs: '{"n":12345678901234567890.10,"s":"\\u2028 x \u2028 \u0085","f":1.0}',
  output: '"=1+1"',
  attributes: '{"a":\n1}',
  summary: "{}",
  exception: "",
  wb_user_id: "u",
  wb_run_step: "9007199254740993",
}
const running = {
  id: "018f0000-0000-7000-8000-000000000002",
  trace_id: "t1",
  op_name: "=f",
  started_at: "2026-01-02 03:04:05.000000",
  inputs: "{}",
  attributes: "{}",
}

test("export: calls as JSON Lines keep the text of their payloads", async () => {
  const project = world.acme.newProject()
  await storeCalls(world.app, project, [odd, running])
  const answer = await world.acme.post("/export/calls", { project_id: project })
  expect([answer.status, answer.headers["content-type"], answer.headers["content-disposition"]]).toEqual([
    200,
    "application/jsonl",
    'attachment; filename="calls.jsonl"',
  ])
  expect(answer.text.split("\n")).toEqual([
    `{"id":"${odd.id}","op_name":"weave:///acme/p/op/a\\"b:v1","trace_id":"t1","parent_id":null,"started_at":"2026-01-02T03:04:05.123456Z","ended_at":"2026-01-02T03:04:06.000000Z","display_name":null,"thread_id":null,"turn_id":null,"exception":null,"attributes":{"a": 1},"inputs":{"n":12345678901234567890.10,"s":"\\u2028 x \\u2028 \\u0085","f":1.0},"output":"=1+1","summary":{},"otel_dump":null,"wb_user_id":"u","wb_run_id":null,"wb_run_step":9007199254740993,"wb_run_step_end":null,"expire_at":null}`,
    `{"id":"${running.id}","op_name":"=f","trace_id":"t1","parent_id":null,"started_at":"2026-01-02T03:04:05.000000Z","ended_at":null,"display_name":null,"thread_id":null,"turn_id":null,"exception":null,"attributes":{},"inputs":{},"output":null,"summary":null,"otel_dump":null,"wb_user_id":null,"wb_run_id":null,"wb_run_step":null,"wb_run_step_end":null,"expire_at":null}`,
    "",
  ])
})

test("export: CSV leaves null empty and quotes texts; spreadsheet_safe disarms formulas", async () => {
  const project = world.acme.newProject()
  await storeCalls(world.app, project, [odd, running])
  const request = {
    project_id: project,
    format: "csv",
    columns: ["output", "wb_run_step"],
    sort_by: [{ field: "started_at" }],
  }
  const answer = await world.acme.post("/export/calls", request)
  expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8; header=present")
  expect(answer.text.split("\n")).toEqual([
    '"id","op_name","trace_id","parent_id","started_at","output","wb_run_step"',
    `"${running.id}","=f","t1",,"2026-01-02T03:04:05.000000Z",,`,
    `"${odd.id}","weave:///acme/p/op/a""b:v1","t1",,"2026-01-02T03:04:05.123456Z","""=1+1""",9007199254740993`,
    "",
  ])
  const safe = await world.acme.post("/export/calls", { ...request, spreadsheet_safe: true, limit: 1 })
  expect(safe.text.split("\n")[1]).toBe(`"${running.id}","'=f","t1",,"2026-01-02T03:04:05.000000Z",,`)
})

test("export: Parquet is one whole file", async () => {
  const project = world.acme.newProject()
  await storeCalls(world.app, project, [odd, running])
  const answer = await world.app.server.inject({
    method: "POST",
    url: "/export/calls",
    headers: { authorization: `Bearer ${world.acme.key}` },
    payload: { project_id: project, format: "parquet" },
  })
  expect(answer.headers["content-type"]).toBe("application/vnd.apache.parquet")
  const bytes = answer.rawPayload
  expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"])
})

test.each(["jsonl", "csv", "parquet"])("export: a table without rows, and one of empty rows, as %s", async (format) => {
  const project = world.acme.newProject()
  for (const rows of [[], [{}, {}]]) {
    const made = await world.acme.post("/table/create", { table: { project_id: project, rows } })
    const { digest } = made.body as { digest: string }
    const answer = await world.acme.post("/export/dataset", { project_id: project, table_digest: digest, format })
    expect([answer.status, answer.text.length > 0]).toEqual([200, format === "parquet" || rows.length > 0])
  }
})

test("law 8: export: rows that share no keys are no file of more columns than one may have; as JSON Lines they go", async () => {
  const project = world.acme.newProject()
  const keys = (row: number) => Array.from({ length: 100 }, (_, n): [string, number] => [`k${row}-${n}`, n])
  const rows = Array.from({ length: 101 }, (_, row) => Object.fromEntries(keys(row)))
  const made = await world.acme.post("/table/create", { table: { project_id: project, rows } })
  const { digest: table_digest } = made.body as { digest: string }
  const exported = (format: string) => world.acme.post("/export/dataset", { project_id: project, table_digest, format })
  for (const format of ["csv", "parquet"]) {
    expect(await exported(format)).toMatchObject({
      status: 400,
      body: { reason: "the rows have more than 10000 columns; export them as JSON Lines" },
    })
  }
  expect((await exported("jsonl")).text.split("\n")).toHaveLength(102)
})

test("law 8: export: a Parquet file of many groups of rows is encoded on threads, and has every row", async () => {
  const project = world.acme.newProject()
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    n,
    half: n / 2,
    text: `row ${n}`,
    even: n % 2 === 0,
    ...(n < 10_000 ? { early: [n, "\u2028"] } : {}),
  }))
  const made = await world.acme.post("/table/create", { table: { project_id: project, rows } })
  const { digest: table_digest } = made.body as { digest: string }
  const onThreads = async () => {
    const finished = 'heddle_queue_finished_total{queue="payload_threads",kind="heavy"}'
    return (await readMetrics(world.admin)).get(finished) ?? 0
  }
  const before = await onThreads()
  const answer = await world.app.server.inject({
    method: "POST",
    url: "/export/dataset",
    headers: { authorization: `Bearer ${world.acme.key}` },
    payload: { project_id: project, table_digest, format: "parquet" },
  })
  expect(answer.statusCode).toBe(200)
  const { buffer, byteOffset, byteLength } = answer.rawPayload
  const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
  expect(parquetMetadata(file).row_groups.length).toBeGreaterThan(2)
  const read = await parquetReadObjects({ file, compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) } })
  const cells = rows.map(({ n, early, ...row }) => ({
    ...row,
    n: BigInt(n),
    early: early === undefined ? null : JSON.stringify(early),
  }))
  expect(read).toEqual(cells)
  expect(await onThreads()).toBeGreaterThan(before + 1)
})

test("objects 3.1: export: the latest version of a dataset, though an op of its name was published after it", async () => {
  const project = world.acme.newProject()
  await publishDataset(world.acme, project, [{ question: "one" }])
  await publish(world.acme, project, "questions", { weave_type: { type: "Op" } })
  const answer = await world.acme.post("/export/dataset", { project_id: project, object_id: "questions" })
  expect([answer.status, answer.text]).toEqual([200, '{"question":"one"}\n'])
})
