/** A trace store with data of the first schema, brought up to date. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../test/support/clickhouse-database.ts"
import { findCallIds } from "../calls/calls-read.ts"
import { selectCalls } from "../calls/calls-selection.ts"
import { connectTraces, openTraces, type TracesLocation } from "../open-traces.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { migrateTraces } from "./migrate-traces.ts"

const project = "11111111-1111-4111-8111-111111111111"
const other = "22222222-2222-4222-8222-222222222222"

/** As the first schema had them, without the columns that the test does not need. */
const firstTables = [
  `create table calls (
    project_id UUID, id String codec(ZSTD), trace_id Nullable(String) codec(ZSTD), parent_id Nullable(String) codec(ZSTD),
    op_name LowCardinality(Nullable(String)), started_at Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD),
    attributes Nullable(String) codec(ZSTD), inputs Nullable(String) codec(ZSTD), output Nullable(String) codec(ZSTD),
    deleted_at Nullable(DateTime64(3, 'UTC')),
    odd_json Nullable(UInt8) materialized if(isValidJSON(ifNull(inputs, '[]')), NULL, 1)
  ) engine = CoalescingMergeTree order by (project_id, id) settings index_granularity = 512`,
  `create table call_places (
    project_id UUID, trace_id String codec(ZSTD), started_at DateTime64(6, 'UTC') codec(Delta, ZSTD), id String codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, trace_id, started_at, id) settings index_granularity = 1024`,
]

const calls = [
  { project_id: project, id: "a", trace_id: "t1", started_at: "2026-01-02 03:04:05.000001", inputs: ['{"n":1}'] },
  { project_id: project, id: "b", trace_id: "t1", started_at: "2026-01-02 03:04:07.5", inputs: ['"\\ud800"'] },
  { project_id: project, id: "c", trace_id: "t2", started_at: "2026-01-02 03:04:06", inputs: ['{"n":2}'] },
  { project_id: other, id: "d", trace_id: "t1", started_at: "2026-01-02 03:04:09", inputs: ["{}"] },
]

let location: TracesLocation
beforeEach(async () => {
  location = { clickhouseUrl: newClickHouseUrl(), folder: await mkdtemp(path.join(tmpdir(), "heddle-migrations-")) }
})
afterEach(() => rm(location.folder, { recursive: true, force: true }))

async function fillFirst(): Promise<TraceStore> {
  const traces = await connectTraces(location)
  for (const statement of firstTables) await traces.command(statement)
  const rows = calls.map(({ inputs, ...call }) => `${JSON.stringify(call).slice(0, -1)},"inputs":[${inputs[0]}]}`)
  await traces.insert("calls", rows.join("\n"))
  const places = calls.flatMap(({ project_id, id, trace_id, started_at }) => [
    { project_id, started_at, id },
    { project_id, trace_id, started_at, id },
  ])
  await traces.insert("call_places", places.map((place) => JSON.stringify(place)).join("\n"))
  return traces
}

function find(traces: TraceStore, projectId: string, traceIds: string[] | null, limit: number): Promise<string[]> {
  const sortBy = [{ field: "started_at", direction: "desc" as const }]
  const filter = traceIds === null ? {} : { trace_ids: traceIds }
  return findCallIds(traces, selectCalls({ projectId, projectName: "e/p", filter, query: null, sortBy }), {
    limit,
    offset: 0,
  })
}

async function expectCurrent(traces: TraceStore): Promise<void> {
  expect(await find(traces, project, null, 2)).toEqual(["b", "c"])
  expect(await find(traces, project, ["t1"], 10)).toEqual(["b", "a"])
  expect(await find(traces, other, ["t1", "t2"], 10)).toEqual(["d"])
  expect(await traces.rows("select id from calls where odd_json = 1")).toEqual([{ id: "b" }])
  const odd = "select default_kind from system.columns where database = currentDatabase() and name = 'odd_json'"
  expect(await traces.rows(odd)).toEqual([{ default_kind: "" }])
  expect(await traces.rows("select max(version) as version from trace_schema")).toEqual([{ version: 2 }])
}

test("a store of the first schema keeps its calls and their marks, and finds them by time and by trace", async () => {
  const first = await fillFirst()
  await first.close()
  const traces = await openTraces(location)
  await expectCurrent(traces)
  await traces.close()
  const again = await openTraces(location)
  await expectCurrent(again)
  await again.close()
})

test("a store of before there were places shows its calls, also when later ones have theirs", async () => {
  const traces = await fillFirst()
  await traces.command("truncate table call_places")
  const later = { project_id: project, started_at: "2026-01-02 03:04:07.5", id: "b" }
  await traces.insert("call_places", `${JSON.stringify(later)}\n${JSON.stringify({ ...later, trace_id: "t1" })}`)
  await migrateTraces(traces)
  await expectCurrent(traces)
  await traces.close()
})

test("several servers may start at once, and what one did before it died is not done again", async () => {
  const traces = await fillFirst()
  await Promise.all([migrateTraces(traces), migrateTraces(traces), migrateTraces(traces)])
  await expectCurrent(traces)
  await traces.command("truncate table trace_schema")
  await migrateTraces(traces)
  await expectCurrent(traces)
  await traces.close()
})

test("a store of a later version is refused", async () => {
  const traces = await openTraces(location)
  await traces.insert("trace_schema", '{"version":9,"name":"of later"}')
  await traces.close()
  await expect(openTraces(location)).rejects.toThrow(
    /written by a later version of Heddle \(its schema is 9, this one knows 2\)/,
  )
})

test("a step that keeps failing is told by its name", async () => {
  const traces = await openTraces(location)
  const failing = { name: "what cannot be", run: () => Promise.reject(new Error("no such table")) }
  await expect(migrateTraces(traces, [failing, failing, failing])).rejects.toThrow(
    "the trace store cannot be brought up to date (what cannot be): no such table",
  )
  await traces.close()
})
