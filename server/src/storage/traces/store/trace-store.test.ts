/** The trace store seam on a store of its own. */
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { text as textOf } from "node:stream/consumers"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { setImmediate } from "node:timers/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../test/support/clickhouse-database.ts"
import { inScope } from "../../../work/work-scope.ts"
import { openTraces } from "../open-traces.ts"
import type { TraceStore } from "./trace-store.ts"

const project = "11111111-1111-4111-8111-111111111111"
let folder: string
let traces: TraceStore

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-traces-"))
  traces = await openTraces({ clickhouseUrl: newClickHouseUrl(), folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

test("parameters of every kind arrive as they were given", async () => {
  const text = "quote ' backslash \\ nul \0 line\nend {x:String} \u2028 😀"
  const rows = await traces.rows<Record<string, unknown>>(
    "select {t:String} as t, {l:Array(String)} as l, {n:Nullable(Int64)} as n, {f:Float64} as f, {b:Bool} as b",
    { t: text, l: ["a'b", "\\n", ""], n: null, f: 0.1, b: true },
  )
  expect(rows).toEqual([{ t: text, l: ["a'b", "\\n", ""], n: null, f: 0.1, b: true }])
})

test.skipIf(newClickHouseUrl() !== null)("the embedded store merges with small buffers", async () => {
  const settings = "'min_columns_to_activate_adaptive_write_buffer', 'merge_max_block_size_bytes'"
  const rows = await traces.rows(
    `select name, value from system.merge_tree_settings where name in (${settings}) order by name`,
  )
  expect(rows).toEqual([
    { name: "merge_max_block_size_bytes", value: "1048576" },
    { name: "min_columns_to_activate_adaptive_write_buffer", value: "1" },
  ])
})

test("a statement that is planned as it is written reads no more of a table than its keys need", async () => {
  const call = (n: number) => JSON.stringify({ project_id: project, sort_time: n, id: `planned-${n}`, op_name: "op" })
  const calls = Array.from({ length: 4096 }, (_, n) => call(1_000_000 + n))
  await traces.insert("calls_v2", calls.slice(0, 2048).join("\n"))
  await traces.insert("calls_v2", calls.slice(2048).join("\n"))
  const select = `select id from calls_v2 as calls final
    prewhere project_id = {project:UUID} and sort_time in {times:Array(Int64)} and id in {ids:Array(String)}
    where started_at is null`
  const parameters = { project, times: [1_000_600], ids: ["planned-1000600"] }
  const limits = { few: true, asWritten: true }
  expect(await traces.rows(select, parameters, limits)).toEqual([{ id: "planned-1000600" }])
  const plan = await traces.rows<{ explain: string }>(`explain indexes = 1 ${select}`, parameters, limits)
  const granules = plan.flatMap(({ explain }) => /Granules: (\d+)\/\d+/.exec(explain)?.[1] ?? [])
  expect(granules).not.toEqual([])
  expect(Number(granules.at(-1))).toBeLessThanOrEqual(2)
})

test("calls 2.3: partial rows of one call become one, newest value first, and orphan ends wait", async () => {
  const start = `{"project_id":"${project}","sort_time":1,"id":"a","trace_id":"t","started_at":"2026-01-02 03:04:05.123456","inputs":[{"n":12345678901234567890123,"f":1.0,"s":"\\u0000\\u2028"}]}`
  const end = (id: string, exception: string) =>
    `{"project_id":"${project}","sort_time":1,"id":"${id}","ended_at":"2026-01-02 03:04:06.000001","exception":"${exception}","output":["text"]}`
  await traces.insert("calls_v2", [end("a", "first"), end("b", "")].join("\n"))
  await traces.insert("calls_v2", Buffer.from(start))
  await traces.insert("calls_v2", end("a", ""))
  const select = `select id, toString(started_at) as started_at, toString(ended_at) as ended_at, exception, inputs, output
    from calls_v2 final where project_id = {project:UUID} and started_at is not null`
  const expected = [
    {
      id: "a",
      started_at: "2026-01-02 03:04:05.123456",
      ended_at: "2026-01-02 03:04:06.000001",
      exception: "",
      inputs: '[{"n":12345678901234567890123,"f":1.0,"s":"\\u0000\\u2028"}]',
      output: '["text"]',
    },
  ]
  expect(await traces.rows(select, { project })).toEqual(expected)
  await traces.command("optimize table calls_v2 final")
  expect(await traces.rows(select, { project })).toEqual(expected)
})

test("rows with blank lines, within texts and within JSON, are stored whole and with those behind them", async () => {
  const key = (id: string) => ({ project_id: project, sort_time: 7, id })
  const csv = `${project},blank-1,7,'one\n\ntwo\n\n\n'\n${project},blank-2,7,'\n\n'\n`
  await traces.insertCsv("calls_v2", ["project_id", "id", "sort_time", "exception"], Buffer.from(csv))
  const lines = [`${JSON.stringify(key("blank-3")).slice(0, -1)},"inputs":[\n\n1]}`, JSON.stringify(key("blank-4"))]
  await traces.insert("calls_v2", lines.join("\n"))
  const select = "select id, exception, inputs from calls_v2 where startsWith(id, 'blank') order by id"
  expect(await traces.rows(select)).toEqual([
    { id: "blank-1", exception: "one\n\ntwo\n\n\n", inputs: null },
    { id: "blank-2", exception: "\n\n", inputs: null },
    { id: "blank-3", exception: null, inputs: "[\n\n1]" },
    { id: "blank-4", exception: null, inputs: null },
  ])
})

test("a query over its limit of time fails as that", async () => {
  const slow = traces.rows("select sum(sipHash64(number)) as s from numbers(100000000000)", {}, { seconds: 1 })
  await expect(slow).rejects.toMatchObject({ code: "query_timeout" })
})

test("security 5.3: rows of a query that fails halfway are in no later answer", async () => {
  const failing = "select number, throwIf(number = 200000) as secret from numbers(1000000)"
  const answers = await Promise.allSettled(
    Array.from({ length: 24 }, (_, index) => traces.rows(index % 3 === 0 ? failing : `select ${index} as own`)),
  )
  const expected = answers.map((_, index) =>
    index % 3 === 0 ? { status: "rejected" } : { status: "fulfilled", value: [{ own: index }] },
  )
  expect(answers).toMatchObject(expected)
})

test("a result over its limit of bytes fails as one that needs too much memory", async () => {
  const large = "select number, randomPrintableASCII(100000) as text from numbers(1000)"
  const answer = traces.rows(large, {}, { resultBytes: 20_000_000 })
  await expect(answer).rejects.toMatchObject({ code: "query_memory" })
})

test("law 8: a result that nobody limits is no longer than what can be read", async () => {
  const answer = traces.rows("select number, randomPrintableASCII(1000000) as text from numbers(400)")
  await expect(answer).rejects.toMatchObject({ code: "query_memory" })
  expect(await traces.rows("select length(randomPrintableASCII(1000000)) as n from numbers(400)")).toHaveLength(400)
})

test("a long read does not hold up another one", async () => {
  const order: string[] = []
  const long = traces
    .rows("select count() as n from numbers(150000000) where sipHash64(number) = 1")
    .then(() => order.push("long"))
  await traces.rows("select 1 as one").then(() => order.push("short"))
  await long
  expect(order).toEqual(["short", "long"])
})

const endless = "select count() as n from numbers(100000000000) where sipHash64(number) = 1"

/** The work of somebody who leaves as soon as the store is at work on it. */
async function whileLeaving(work: () => Promise<unknown>): Promise<void> {
  const client = new AbortController()
  const answer = inScope({ teamId: "red", userId: "ann", signal: client.signal }, work)
  await expect.poll(() => running(traces)).toBe(1)
  client.abort(new Error("the client has left"))
  await expect(answer).rejects.toThrow("the client has left")
}

function running({ queues }: TraceStore): number {
  return queues.reduce((sum, queue) => sum + queue.snapshot().running.heavy, 0)
}

/** The endless queries that run now; this query starts with another word. */
async function inTheStore(): Promise<unknown[]> {
  return traces.rows(
    "with 1 as one select query from system.processes where position(query, 'sipHash64(number)') > 0 and not position(query, 'as one') > 0",
  )
}

test.each([
  ["read", () => traces.rows(endless, {}, { seconds: 100 })],
  ["printed", () => traces.print(endless, {}, "TSVRaw")],
])("what is %s for somebody who has left is stopped in the store, and its place serves others", async (_, work) => {
  for (let round = 0; round < 5; round++) await whileLeaving(work)
  await expect.poll(inTheStore).toEqual([])
  const ones = await Promise.all(Array.from({ length: 8 }, () => traces.rows<{ one: number }>("select 1 as one")))
  expect(ones).toEqual(Array.from({ length: 8 }, () => [{ one: 1 }]))
  expect(await textOf(await traces.print("select 'one' as word", {}, "TSVRaw"))).toBe("one\n")
})

test("somebody who leaves while a query is on its way to the store breaks no query of others", async () => {
  for (let round = 0; round < 20; round++) {
    const client = new AbortController()
    const answer = inScope({ teamId: "red", userId: "ann", signal: client.signal }, () =>
      traces.rows("select 1 as one"),
    )
    client.abort(new Error("the client has left"))
    await expect(answer).rejects.toThrow("the client has left")
  }
  // Longer than an idle connection is kept.
  const slow = "select count() as blocks from numbers(8) where sleepEachRow(0.5) = 0 settings max_block_size = 1"
  const answers = await Promise.all(Array.from({ length: 3 }, () => traces.rows<{ blocks: string }>(slow)))
  expect(answers.map(([row]) => Number(row?.blocks))).toEqual([8, 8, 8])
})

test("work for somebody who has left is not begun; an insert that has begun is stored", async () => {
  await traces.command("create table left_behind (n UInt32) engine = MergeTree order by n")
  const client = new AbortController()
  await inScope({ teamId: "red", userId: "ann", signal: client.signal }, async () => {
    const begun = traces.insert("left_behind", '{"n":1}')
    await setImmediate()
    client.abort(new Error("the client has left"))
    await begun
    await expect(traces.insert("left_behind", '{"n":2}')).rejects.toThrow("the client has left")
    await expect(traces.rows("select 1 as one")).rejects.toThrow("the client has left")
    await expect(traces.print("select 1 as one", {}, "TSVRaw")).rejects.toThrow("the client has left")
  })
  expect(await traces.rows("select n from left_behind")).toEqual([{ n: 1 }])
})

test.each([
  [
    "http://user:secret@127.0.0.1:1/heddle",
    /the ClickHouse server at 127\.0\.0\.1:1 \(HEDDLE_CLICKHOUSE_URL\) cannot be used: .*ECONNREFUSED/,
  ],
  ["clickhouse.example", /HEDDLE_CLICKHOUSE_URL is not a URL such as/],
  ["clickhouse.example:8123", /HEDDLE_CLICKHOUSE_URL is not a URL such as/],
  ["http://user:secret%@127.0.0.1:1/heddle", /HEDDLE_CLICKHOUSE_URL is not a URL such as/],
])("a server that cannot be used is told to the operator, without the password: %s", async (clickhouseUrl, message) => {
  const opening = openTraces({ clickhouseUrl, folder })
  await expect(opening).rejects.toThrow(message)
  await expect(opening).rejects.not.toThrow("secret")
})

test.each([
  ["says nothing", () => undefined, /cannot be used: Timeout error\. See that/],
  [
    "is something else",
    (socket: Socket) => socket.end(`HTTP/1.1 501 No\r\nconnection: close\r\n\r\n<html>\n${"<p>no</p>\n".repeat(100)}`),
    /^the ClickHouse server at \S+ \(HEDDLE_CLICKHOUSE_URL\) cannot be used: <html>( <p>no<\/p>)+.{0,10}…\. See that/,
  ],
])(
  "a server that %s is told to the operator in one line, soon",
  async (_what, answer, message) => {
    const server = createServer((socket) => socket.on("error", () => undefined).once("data", () => answer(socket)))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const { port } = server.address() as AddressInfo
    const opening = openTraces({ clickhouseUrl: `http://127.0.0.1:${port}/heddle`, folder })
    await expect(opening).rejects.toThrow(message)
    server.close()
  },
  30_000,
)
