/** Sharing inserts and refusing what is too much, on a real store whose inserts can be held back. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { addMissingPlaces, placeLines } from "./call-places.ts"
import { CallWriter, insertCalls } from "./calls-write.ts"
import { openTraces } from "../open-traces.ts"
import type { TraceStore } from "../store/trace-store.ts"

const project = "11111111-1111-4111-8111-111111111111"
let folder: string
let traces: TraceStore

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-writer-"))
  traces = await openTraces({ clickhouseUrl: process.env["HEDDLE_TEST_CLICKHOUSE_URL"] ?? null, folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

/** The store itself, whose inserts wait for `release`, and how many rows each insert into `calls` had. */
function heldBack() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const inserts: number[] = []
  const store: TraceStore = {
    rows: (sql, parameters, limits) => traces.rows(sql, parameters, limits),
    command: (sql, parameters) => traces.command(sql, parameters),
    print: (sql, parameters, format) => traces.print(sql, parameters, format),
    ping: () => traces.ping(),
    close: () => Promise.resolve(),
    insert: async (table, rows) => {
      if (table === "calls") inserts.push(rows.toString().trimEnd().split("\n").length)
      await released
      await traces.insert(table, rows)
    },
  }
  return { store, release, inserts }
}

function batchOf(id: string, inputs = "{}") {
  const times = { project_id: project, id, trace_id: "t", started_at: "2026-01-02 03:04:05.000001" }
  const row = `${JSON.stringify(times).slice(0, -1)},"inputs":[${inputs}]}\n`
  return { rows: Buffer.from(row), places: Buffer.from(placeLines(times)) }
}

async function stored(prefix: string): Promise<string[]> {
  const rows = await traces.rows<{ id: string }>(
    "select id from calls final where project_id = {project:UUID} and startsWith(id, {prefix:String}) order by id",
    { project, prefix },
  )
  return rows.map(({ id }) => id)
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

test("what comes while a small insert runs shares the next one", async () => {
  const { store, release, inserts } = heldBack()
  const writer = new CallWriter(store)
  const first = writer.add(batchOf("share-0"))
  await pause()
  const others = [1, 2, 3].map((number) => writer.add(batchOf(`share-${number}`)))
  await pause()
  expect(inserts).toEqual([1])
  release()
  await Promise.all([first, ...others])
  expect(inserts).toEqual([1, 3])
  expect(await stored("share-")).toEqual(["share-0", "share-1", "share-2", "share-3"])
})

test("two large inserts run at once, and no third", async () => {
  const { store, release, inserts } = heldBack()
  const writer = new CallWriter(store)
  const large = JSON.stringify({ text: "x".repeat(200 * 1024) })
  const sent: Promise<void>[] = []
  for (const number of [0, 1, 2, 3]) {
    sent.push(writer.add(batchOf(`pair-${number}`, large)))
    await pause()
  }
  expect(inserts).toEqual([1, 1])
  release()
  await Promise.all(sent)
  expect(inserts).toEqual([1, 1, 2])
  expect(await stored("pair-")).toEqual(["pair-0", "pair-1", "pair-2", "pair-3"])
})

test("of those whom large inserts answer each insert takes its half; it does not wait long for them", async () => {
  const { store, release, inserts } = heldBack()
  release()
  const writer = new CallWriter(store)
  const large = JSON.stringify({ text: "x".repeat(100 * 1024) })
  const together = (round: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, number) => writer.add(batchOf(`gather-${round}${number}`, large))))
  await together("a", 6)
  const first = together("b", 1)
  await new Promise((resolve) => setTimeout(resolve, 2))
  await Promise.all([first, together("c", 2)])
  expect(inserts).toEqual([6, 3])
  await together("d", 1)
  expect(inserts).toEqual([6, 3, 1])
})

test("a batch that cannot be stored fails alone", async () => {
  const writer = new CallWriter(traces)
  const broken = { rows: Buffer.from('{"project_id":"no uuid"}\n'), places: Buffer.alloc(0) }
  const results = await Promise.allSettled([
    writer.add(batchOf("alone-0")),
    writer.add(broken),
    writer.add(batchOf("alone-1")),
  ])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  expect(await stored("alone-")).toEqual(["alone-0", "alone-1"])
})

test("beyond 128 MiB that wait, more is refused with a time to come again, and what waits is stored", async () => {
  const { store, release } = heldBack()
  const writer = new CallWriter(store)
  const large = JSON.stringify({ text: "x".repeat(30 * 1024 * 1024) })
  const taken = [0, 1, 2, 3].map((number) => writer.add(batchOf(`full-${number}`, large)))
  const refusal = { code: "store_overloaded", status: 503, details: { retryAfterMs: 1000 } }
  expect(() => writer.add(batchOf("full-9", large))).toThrow(expect.objectContaining(refusal))
  release()
  await Promise.all(taken)
  expect(await stored("full-")).toEqual(["full-0", "full-1", "full-2", "full-3"])
  await writer.add(batchOf("full-4"))
  expect(await stored("full-4")).toEqual(["full-4"])
})

test("calls whose places a crash has cut off are found again after the next start", async () => {
  const [{ rows }, other] = [batchOf("torn-0"), batchOf("torn-1")]
  await traces.insert("calls", rows)
  await insertCalls(traces, [other])
  const places = async () => {
    const sql = "select id, trace_id from call_places final where startsWith(id, 'torn-') order by id, trace_id"
    return (await traces.rows<{ id: string; trace_id: string }>(sql)).map((row) => `${row.id} ${row.trace_id}`)
  }
  expect(await places()).toEqual(["torn-1 ", "torn-1 t"])
  await addMissingPlaces(traces)
  expect(await places()).toEqual(["torn-0 ", "torn-0 t", "torn-1 ", "torn-1 t"])
})
