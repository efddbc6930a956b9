/** Trace stores with data of earlier schemas, brought up to date. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../test/support/clickhouse-database.ts"
import { CallBatchBuilder } from "../calls/insert/call-batch.ts"
import { CallWriter } from "../calls/insert/calls-write.ts"
import { SeenIds } from "../calls/insert/seen-ids.ts"
import { findCalls } from "../calls/calls-read.ts"
import { callsTables } from "../calls/calls-tables.ts"
import { selectCalls } from "../calls/calls-selection.ts"
import { readCallRows } from "../calls/call-row-reads.ts"
import { connectTraces, openTraces, type TracesLocation } from "../open-traces.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { CannotMigrate } from "./cannot-migrate.ts"
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
]

/** As version 2 made them. */
const secondTables = [
  `create table calls (
    project_id UUID,
    id String codec(ZSTD),
    trace_id Nullable(String) codec(ZSTD),
    parent_id Nullable(String) codec(ZSTD),
    thread_id Nullable(String) codec(ZSTD),
    turn_id Nullable(String) codec(ZSTD),
    op_name LowCardinality(Nullable(String)),
    display_name Nullable(String) codec(ZSTD),
    started_at Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD),
    ended_at Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD),
    exception Nullable(String) codec(ZSTD),
    attributes Nullable(String) codec(ZSTD),
    inputs Nullable(String) codec(ZSTD),
    output Nullable(String) codec(ZSTD),
    summary Nullable(String) codec(ZSTD),
    otel_dump Nullable(String) codec(ZSTD),
    wb_user_id LowCardinality(Nullable(String)),
    wb_run_id LowCardinality(Nullable(String)),
    wb_run_step Nullable(Int64),
    wb_run_step_end Nullable(Int64),
    expire_at Nullable(DateTime64(3, 'UTC')),
    deleted_at Nullable(DateTime64(3, 'UTC')),
    odd_json Nullable(UInt8)
  ) engine = CoalescingMergeTree order by (project_id, id)
  settings index_granularity = 512, merge_selector_base = 20`,
  `create table call_places (
    project_id UUID,
    trace_id String codec(ZSTD),
    started_at DateTime64(6, 'UTC') codec(Delta, ZSTD),
    id String codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, trace_id, started_at, id)
  settings index_granularity = 1024, merge_selector_base = 20`,
  `create table trace_schema (
    version UInt32,
    name String,
    applied_at DateTime64(3, 'UTC') default now64(3)
  ) engine = MergeTree order by version`,
  "insert into trace_schema (version, name) values (1, 'plain odd_json'), (2, 'places of earlier calls')",
]

let location: TracesLocation
beforeEach(async () => {
  location = { clickhouseUrl: newClickHouseUrl(), folder: await mkdtemp(path.join(tmpdir(), "heddle-migrations-")) }
})
afterEach(() => rm(location.folder, { recursive: true, force: true }))

async function storeOf(tables: readonly string[]): Promise<TraceStore> {
  const traces = await connectTraces(location)
  for (const statement of tables) await traces.command(statement)
  return traces
}

/** Ends the claims of servers that died, as the passing of time would. */
async function endClaims(traces: TraceStore): Promise<void> {
  await traces.command("truncate table if exists trace_step_claims")
}

async function find(
  traces: TraceStore,
  projectId: string,
  traceIds: string[] | null,
  limit: number,
): Promise<string[]> {
  const sortBy = [{ field: "started_at", direction: "desc" as const }]
  const filter = traceIds === null ? {} : { trace_ids: traceIds }
  const selection = selectCalls({ projectId, projectName: "e/p", retentionDays: null, filter, query: null, sortBy })
  const found = (await Array.fromAsync(findCalls(traces, selection, { limit, offset: 0 }))).flat()
  return found.map(({ id }) => id)
}

async function tablesOf(traces: TraceStore): Promise<string[]> {
  const rows = await traces.rows<{ name: string }>(
    "select name from system.tables where database = currentDatabase() and name like '%call%' order by name",
  )
  return rows.map(({ name }) => name)
}

const currentTables = ["annotation_queue_calls", "call_places_v2", "calls_v2"]

/** The store; `intercept` sees each statement before it runs, and stops it by throwing. */
function watched(traces: TraceStore, intercept: (sql: string) => Promise<void> | void): TraceStore {
  return {
    queues: [],
    isExclusive: traces.isExclusive,
    rows: async (sql, parameters, limits) => {
      await intercept(sql)
      return traces.rows(sql, parameters, limits)
    },
    command: async (sql, parameters) => {
      await intercept(sql)
      await traces.command(sql, parameters)
    },
    insert: async (table, rows) => {
      await intercept(`insert into ${table}`)
      await traces.insert(table, rows)
    },
    insertCsv: (table, columns, rows) => traces.insertCsv(table, columns, rows),
    print: (sql, parameters, format) => traces.print(sql, parameters, format),
    ping: () => traces.ping(),
    close: () => Promise.resolve(),
  }
}

describe("a store of the first schema", () => {
  const calls = [
    { project_id: project, id: "a", trace_id: "t1", started_at: "2026-01-02 03:04:05.000001", inputs: ['{"n":1}'] },
    { project_id: project, id: "b", trace_id: "t1", started_at: "2026-01-02 03:04:07.5", inputs: ['"\\ud800"'] },
    { project_id: project, id: "c", trace_id: "t2", started_at: "2026-01-02 03:04:06", inputs: ['{"n":2}'] },
    { project_id: other, id: "d", trace_id: "t1", started_at: "2026-01-02 03:04:09", inputs: ["{}"] },
  ]

  test("keeps its calls and their marks, and finds them by time and by trace", async () => {
    const first = await storeOf(firstTables)
    const rows = calls.map(({ inputs, ...call }) => `${JSON.stringify(call).slice(0, -1)},"inputs":[${inputs[0]}]}`)
    await first.insert("calls", rows.join("\n"))
    await first.close()
    for (const start of [1, 2]) {
      const traces = await openTraces(location)
      expect(await find(traces, project, null, 2), `start ${start}`).toEqual(["b", "c"])
      expect(await find(traces, project, ["t1"], 10)).toEqual(["b", "a"])
      expect(await find(traces, other, ["t1", "t2"], 10)).toEqual(["d"])
      expect(await traces.rows("select id from calls_v2 where odd_json = 1")).toEqual([{ id: "b" }])
      expect(await traces.rows("select max(version) as version from trace_schema")).toEqual([{ version: 5 }])
      expect(await tablesOf(traces)).toEqual(currentTables)
      await traces.close()
    }
  })
})

describe("a store of version 2", () => {
  const v7 = "019b7d1c-5e48-7000-8000-00000000000a"
  const v4 = "5f1a3c77-0000-4000-8000-00000000000b"
  const span = "b7ad6b7169203331"
  const orphan = "00000000-0000-4000-8000-00000000000d"
  const removed = "11111111-0000-4000-8000-00000000000e"
  const start = (id: string, started_at: string, more: object = {}) =>
    JSON.stringify({ project_id: project, id, trace_id: "t", op_name: "op", started_at, ...more })
  const end = (id: string, output: string) =>
    `{"project_id":"${project}","id":"${id}","ended_at":"2026-01-02 04:00:00","exception":"","output":[${output}],"summary":[{}]}`

  async function fill(traces: TraceStore): Promise<void> {
    await traces.insert("calls", [end(v4, "4.0"), end(orphan, '"waits"')].join("\n"))
    await traces.insert("calls", start(v7, "2026-01-02 03:00:01"))
    await traces.insert("calls", [start(v4, "2026-01-02 03:00:02"), start(removed, "2026-01-02 03:00:03")].join("\n"))
    await traces.insert("calls", `${start(span, "2026-01-02 03:00:04").slice(0, -1)},"otel_dump":[{"name":"s"}]}`)
    await traces.insert("calls", JSON.stringify({ project_id: project, id: v7, display_name: "renamed" }))
    await traces.insert(
      "calls",
      JSON.stringify({ project_id: project, id: removed, deleted_at: "2026-02-01 00:00:00" }),
    )
  }

  async function expectFilled(traces: TraceStore): Promise<void> {
    expect(await find(traces, project, null, 10)).toEqual([span, v4, v7])
    expect(await find(traces, project, ["t"], 10)).toEqual([span, v4, v7])
    const rows = await readCallRows(
      traces,
      project,
      [v7, v4, span, orphan, removed],
      ["display_name", "output", "otel_dump"],
    )
    expect(rows.map(({ id, display_name, output, otel_dump }) => [id, display_name, output, otel_dump])).toEqual([
      [v7, "renamed", null, null],
      [v4, null, "4.0", null],
      [span, null, null, '{"name":"s"}'],
    ])
    const sortTimes = await traces.rows("select id, sort_time from calls_v2 final order by id")
    expect(sortTimes).toEqual([
      { id: orphan, sort_time: "281474976710656" },
      { id: v7, sort_time: "1767330569800" },
      { id: removed, sort_time: "1767322803000" },
      { id: v4, sort_time: "1767322802000" },
      { id: span, sort_time: "1767322804000" },
    ])
  }

  test("keeps calls with ids of every kind, names, deletions and ends that wait", async () => {
    const earlier = await storeOf(secondTables)
    await fill(earlier)
    await earlier.close()
    const traces = await openTraces(location)
    await expectFilled(traces)
    expect(await tablesOf(traces)).toEqual(currentTables)

    const writer = new CallWriter(traces, new SeenIds(traces, { most: 1000, log: { error: () => undefined } }))
    const batch = new CallBatchBuilder(100)
    const started_at = "2026-01-02 03:00:09.000001"
    batch.add({ projectId: project, id: orphan }, { trace_id: "t", op_name: "op", started_at })
    batch.add({ projectId: project, id: v4 }, { display_name: "named later" })
    await writer.add(batch.batch())
    expect(await find(traces, project, null, 10)).toEqual([orphan, span, v4, v7])
    const rows = await readCallRows(traces, project, [orphan, v4], ["output", "display_name"])
    expect(rows.map(({ output, display_name }) => [output, display_name])).toEqual([
      ['"waits"', null],
      ["4.0", "named later"],
    ])
    await traces.close()
  })

  test("that is large is copied in stretches; whatever statement a server dies at, the next goes on", async () => {
    const traces = await storeOf(secondTables)
    const calls = 45_000
    await traces.command(
      `insert into calls (project_id, id, trace_id, op_name, started_at, inputs)
        select if(number % 3 = 0, {other:UUID}, {project:UUID}), lower(hex(sipHash64(number))), toString(number % 100), 'op',
          toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number, concat('[', toString(number), ']') from numbers({calls:UInt64})`,
      { project, other, calls },
    )
    await traces.close()
    let deaths = 0
    for (let isDone = false; !isDone;) {
      const opened = await connectTraces(location)
      for (const statement of callsTables) await opened.command(statement)
      await endClaims(opened)
      let statements = 0
      const dying = watched(opened, () => {
        if (++statements > deaths) throw new CannotMigrate("killed")
      })
      await migrateTraces(dying).then(
        () => (isDone = true),
        () => deaths++,
      )
      await opened.close()
    }
    expect(deaths).toBeGreaterThan(15)
    const again = await openTraces(location)
    expect(
      await again.rows(
        `select toUInt32(count()) as n, toUInt64(sum(JSONExtractInt(assumeNotNull(inputs), 1))) as sum,
          toUInt32(countIf(sort_time = toUnixTimestamp64Milli(assumeNotNull(started_at)))) as placed from calls_v2 final`,
      ),
    ).toEqual([{ n: calls, sum: String((calls * (calls - 1)) / 2), placed: calls }])
    expect(
      await again.rows("select kind, toUInt32(count()) as n from call_places_v2 final group by kind order by kind"),
    ).toEqual([0, 1, 2].map((kind) => ({ kind, n: calls })))
    expect(await tablesOf(again)).toEqual(currentTables)
    await again.close()
  }, 300_000)

  test("takes what servers of the earlier version write while it is copied; then they can write no more", async () => {
    const traces = await openEmpty()
    await fill(traces)
    let renamed = false
    const store = watched(traces, async (sql) => {
      if (!sql.startsWith("rename")) return
      renamed = true
      await traces.insert("calls", JSON.stringify({ project_id: project, id: v4, display_name: "late" }))
      await traces.insert("calls", start("1111111111111111", "2026-01-02 03:00:05"))
    })
    await migrateTraces(store)
    expect(renamed).toBe(true)
    expect(await find(traces, project, null, 10)).toEqual(["1111111111111111", span, v4, v7])
    const [row] = await readCallRows(traces, project, [v4], ["display_name", "output"])
    expect(row).toMatchObject({ display_name: "late", output: "4.0" })
    await expect(traces.insert("calls", end(v4, "5"))).rejects.toThrow()
    await traces.close()
  })

  test("is copied once when several servers start together", async () => {
    const traces = await openEmpty()
    await fill(traces)
    let copies = 0
    const shared: TraceStore = {
      ...watched(traces, (sql) => void (sql.startsWith("insert into calls_v2") && copies++)),
      isExclusive: false,
    }
    await Promise.all([migrateTraces(shared), migrateTraces(shared), migrateTraces(shared)])
    // All calls, and then none that came later.
    expect(copies).toBe(2)
    await expectFilled(traces)
    await traces.close()
  }, 30_000)

  test("is refused, and stays as it is, where the disk has no room for the copy", async () => {
    const traces = await openEmpty()
    await fill(traces)
    const full: TraceStore = {
      ...watched(traces, () => undefined),
      rows: async (sql, parameters, limits) => {
        const rows = await traces.rows<Record<string, unknown>>(sql, parameters, limits)
        return (sql.includes("system.disks") ? rows.map((row) => ({ ...row, earlier: 5e9, free: 1e9 })) : rows) as never
      },
    }
    await expect(migrateTraces(full)).rejects.toThrow(
      "the trace store cannot be brought up to date (calls in the order of time): the calls are copied once, " +
        "which needs 7.50 GB on the disk of the trace store, and 1.00 GB are free. Nothing was changed; make room and start again",
    )
    expect(await traces.rows("select toUInt32(count()) as n from calls final")).toEqual([{ n: 5 }])
    await traces.close()
  })

  async function openEmpty(): Promise<TraceStore> {
    // The tables of today are there, as a start makes them before it changes anything.
    await (await openTraces(location)).close()
    const traces = await connectTraces(location)
    await traces.command("drop table trace_schema")
    for (const statement of secondTables) await traces.command(statement)
    return traces
  }
})

test("a store of version 3 finds words that are spelled with escapes, and those that an earlier server writes later", async () => {
  const earlier = await openTraces(location)
  await earlier.command("alter table calls_v2 drop column needless_escape")
  await earlier.command("truncate table trace_schema")
  await earlier.insert("trace_schema", '{"version":3,"name":"calls in the order of time"}')
  const ids = ["01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"] as const
  const store = async (traces: TraceStore, id: string) => {
    const writer = new CallWriter(traces, new SeenIds(traces, { most: 1000, log: { error: () => undefined } }))
    const batch = new CallBatchBuilder(100)
    const started_at = "2026-01-02 03:00:09.000001"
    const inputs = String.raw`{"note":"m\u0061rigold"}`
    batch.add({ projectId: project, id }, { trace_id: "t", op_name: "op", started_at }, { inputs })
    await writer.add(batch.batch())
  }
  await store(earlier, ids[0])
  await earlier.close()

  const traces = await openTraces(location)
  await store(traces, ids[1])
  const $contains = { input: { $getField: "inputs.note" }, substr: { $literal: "marigold" } }
  const query = { $expr: { $contains } }
  const sortBy = [{ field: "id", direction: "asc" as const }]
  const selection = selectCalls({
    projectId: project,
    projectName: "e/p",
    retentionDays: null,
    filter: {},
    query,
    sortBy,
  })
  const found = (await Array.fromAsync(findCalls(traces, selection, { limit: 10, offset: 0 }))).flat()
  expect(found.map(({ id }) => id)).toEqual(ids)
  await traces.close()
})

test("a store of version 4 gets the places of a new one, and keeps those that it has", async () => {
  const described = (traces: TraceStore) =>
    traces.rows("select create_table_query from system.tables where name = 'call_places_v2'")
  const place = { kind: 2, project_id: project, key: "a", started_at: "1970-01-01 00:00:00", id: "", sort_time: "7" }
  const earlier = await openTraces(location)
  const asNew = await described(earlier)
  await earlier.command(
    "alter table call_places_v2 modify column key String codec(ZSTD), modify column id String codec(ZSTD)",
  )
  await earlier.command("alter table call_places_v2 modify setting merge_selector_base = 20")
  await earlier.command("truncate table trace_schema")
  await earlier.insert("trace_schema", '{"version":4,"name":"a mark of needless escapes"}')
  await earlier.insert("call_places_v2", JSON.stringify(place))
  await earlier.close()

  const traces = await openTraces(location)
  expect(await described(traces)).toEqual(asNew)
  await traces.command("optimize table call_places_v2 final")
  expect(await traces.rows("select key, sort_time from call_places_v2 where kind = 2")).toEqual([
    { key: "a", sort_time: "7" },
  ])
  await traces.close()
})

test("a store of a later version is refused", async () => {
  const traces = await openTraces(location)
  await traces.insert("trace_schema", '{"version":9,"name":"of later"}')
  await traces.close()
  await expect(openTraces(location)).rejects.toThrow(
    /written by a later version of Heddle \(its schema is 9, this one knows 5\)/,
  )
})

test("a step that keeps failing is told by its name", async () => {
  const traces = await openTraces(location)
  const failing = {
    version: 99,
    name: "what cannot be",
    isNeeded: () => Promise.resolve(true),
    run: () => Promise.reject(new Error("no such table")),
  }
  await expect(migrateTraces(traces, undefined, [failing])).rejects.toThrow(
    "the trace store cannot be brought up to date (what cannot be): no such table",
  )
  await traces.close()
})
