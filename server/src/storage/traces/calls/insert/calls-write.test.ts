/** Sharing inserts and refusing what is too much, on a real store whose inserts can be held back. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { inScope, type WorkScope } from "../../../../work/work-scope.ts"
import { type CallBatch, CallBatchBuilder } from "./call-batch.ts"
import { addMissingPlaces } from "./call-places.ts"
import { CallWriter } from "./calls-write.ts"
import { SeenIds } from "./seen-ids.ts"
import { openTraces } from "../../open-traces.ts"
import type { TraceStore } from "../../store/trace-store.ts"

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

/** The store itself, whose inserts wait for `release`; how many rows each insert into `calls` had, and of which calls. */
function heldBack() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const inserts: number[] = []
  const ids: string[][] = []
  const store: TraceStore = {
    queues: [],
    isExclusive: traces.isExclusive,
    rows: (sql, parameters, limits) => traces.rows(sql, parameters, limits),
    command: (sql, parameters) => traces.command(sql, parameters),
    print: (sql, parameters, format) => traces.print(sql, parameters, format),
    ping: () => traces.ping(),
    close: () => Promise.resolve(),
    insert: (table, rows) => traces.insert(table, rows),
    insertCsv: async (table, columns, rows) => {
      if (table === "calls_v2") {
        const lines = rows.toString().trimEnd().split("\n")
        inserts.push(lines.length)
        ids.push(lines.map((line) => line.split(",", 2)[1] ?? ""))
      }
      await released
      await traces.insertCsv(table, columns, rows)
    },
  }
  return { store, release, inserts, ids }
}

/** The calls of each test are a group, told by two hexadecimal digits. */
const callId = (group: string, number: number) => `01900000-0000-70${group}-8000-${String(number).padStart(12, "0")}`

function batchOf(id: string, inputs = "{}", projectId = project): CallBatch {
  const rows = new CallBatchBuilder(64)
  rows.add({ projectId, id }, { trace_id: "t", started_at: "2026-01-02 03:04:05.000001" }, { inputs })
  return rows.batch()
}

/** The numbers of the calls of a group that are stored. */
async function stored(group: string): Promise<number[]> {
  const rows = await traces.rows<{ id: string }>(
    "select id from calls_v2 final where project_id = {project:UUID} and startsWith(id, {prefix:String}) order by id",
    { project, prefix: callId(group, 0).slice(0, 24) },
  )
  return rows.map(({ id }) => Number(id.slice(24)))
}

const writerOf = (store: TraceStore) =>
  new CallWriter(store, new SeenIds(store, { most: 1000, log: { error: () => undefined } }))

/** A request of this user, whose client waits. */
const requestOf = (userId: string): WorkScope => ({ userId, teamId: userId, signal: new AbortController().signal })

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

test("what comes while a small insert runs shares the next one", async () => {
  const { store, release, inserts } = heldBack()
  const writer = writerOf(store)
  const first = writer.add(batchOf(callId("01", 0)))
  await pause()
  const others = [1, 2, 3].map((number) => writer.add(batchOf(callId("01", number))))
  await pause()
  expect(inserts).toEqual([1])
  release()
  await Promise.all([first, ...others])
  expect(inserts).toEqual([1, 3])
  expect(await stored("01")).toEqual([0, 1, 2, 3])
})

test("two large inserts run at once, and no third", async () => {
  const { store, release, inserts } = heldBack()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(200 * 1024) })
  const sent: Promise<void>[] = []
  for (const number of [0, 1, 2, 3]) {
    sent.push(writer.add(batchOf(callId("02", number), large)))
    await pause()
  }
  expect(inserts).toEqual([1, 1])
  release()
  await Promise.all(sent)
  expect(inserts).toEqual([1, 1, 2])
  expect(await stored("02")).toEqual([0, 1, 2, 3])
})

test("of those whom large inserts answer each insert takes its half; it does not wait long for them", async () => {
  const { store, release, inserts } = heldBack()
  release()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(100 * 1024) })
  const together = (round: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, number) => writer.add(batchOf(callId("03", 10 * round + number), large))),
    )
  await together(0, 6)
  const first = together(1, 1)
  await new Promise((resolve) => setTimeout(resolve, 2))
  await Promise.all([first, together(2, 2)])
  expect(inserts).toEqual([6, 3])
  await together(3, 1)
  expect(inserts).toEqual([6, 3, 1])
})

test("a batch that cannot be stored fails alone", async () => {
  const writer = writerOf(traces)
  const broken = batchOf(callId("04", 9), "{}", "no uuid")
  const results = await Promise.allSettled([
    writer.add(batchOf(callId("04", 0))),
    writer.add(broken),
    writer.add(batchOf(callId("04", 1))),
  ])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  expect(await stored("04")).toEqual([0, 1])
})

test("beyond 128 MiB that wait, more is refused with a time to come again, and what waits is stored", async () => {
  const { store, release } = heldBack()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(30 * 1024 * 1024) })
  const add = (userId: string, number: number) =>
    inScope(requestOf(userId), () => writer.add(batchOf(callId("05", number), large)))
  const taken = [0, 1, 2, 3].map((number) => add(number < 2 ? "ann" : "bob", number))
  taken.push(add("eve", 4))
  const refusal = { code: "store_overloaded", status: 503, details: { retryAfterMs: 1000 } }
  await expect(add("eve", 9)).rejects.toMatchObject(refusal)
  release()
  await Promise.all(taken)
  expect(await stored("05")).toEqual([0, 1, 2, 3, 4])
  await writer.add(batchOf(callId("05", 5)))
  expect(await stored("05")).toEqual([0, 1, 2, 3, 4, 5])
})

test("work that must be done is stored, however much of its user's and of all users waits", async () => {
  const { store, release } = heldBack()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(30 * 1024 * 1024) })
  const add = (scope: WorkScope, number: number) =>
    inScope(scope, () => writer.add(batchOf(callId("0a", number), large)))
  const taken = ["ann", "ann", "bob", "bob", "eve"].map((userId, number) => add(requestOf(userId), number))
  await expect(add(requestOf("ann"), 9)).rejects.toMatchObject({ code: "rate_limit_exceeded" })
  taken.push(add({ userId: "ann", teamId: "ann", signal: null }, 5))
  taken.push(writer.add(batchOf(callId("0a", 6))))
  release()
  await Promise.all(taken)
  expect(await stored("0a")).toEqual([0, 1, 2, 3, 4, 5, 6])
})

test("one user may fill half of what may wait, and no more; another one is let in all the same", async () => {
  const { store, release } = heldBack()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(30 * 1024 * 1024) })
  const add = (userId: string, number: number, inputs?: string) =>
    inScope(requestOf(userId), () => writer.add(batchOf(callId("07", number), inputs)))
  const taken = [1, 2].map((number) => add("ann", number, large))
  taken.push(...[3, 4].map((number) => add("bob", number, large)))
  const refusal = { code: "rate_limit_exceeded", status: 429, details: { retryAfterMs: 1000 } }
  await expect(add("ann", 8, large)).rejects.toMatchObject(refusal)
  taken.push(add("eve", 5, large))
  await expect(add("eve", 9)).rejects.toMatchObject({ code: "store_overloaded" })
  release()
  await Promise.all(taken)
  expect(await stored("07")).toEqual([1, 2, 3, 4, 5])
})

test("a small request joins the next insert although another team has more waiting than that one takes", async () => {
  const { store, release, ids } = heldBack()
  const writer = writerOf(store)
  const large = JSON.stringify({ text: "x".repeat(14 * 1024 * 1024) })
  const add = (userId: string, number: number, inputs?: string) =>
    inScope({ userId, teamId: userId, signal: null }, () => writer.add(batchOf(callId("08", number), inputs)))
  const sent = [0, 1].map((number) => add("ann", number))
  await pause()
  // While the first insert is held back, all of these wait.
  sent.push(...[2, 3, 4, 5].map((number) => add("ann", number, large)), add("eve", 9))
  release()
  await Promise.all(sent)
  const inserted = [[0, 1], [2, 9, 3, 4], [5]]
  expect(ids).toEqual(inserted.map((group) => group.map((number) => callId("08", number))))
})

test("calls whose places a crash has cut off are found again after the next start", async () => {
  const timed = callId("06", 0)
  const other = "06aaaaaaaaaaaaaa"
  const whole = callId("06", 1)
  const writer = writerOf(traces)
  await writer.add(batchOf(other))
  await writer.add(batchOf(timed))
  await traces.command("truncate table call_places_v2")
  await writer.add(batchOf(whole))
  const places = async () => {
    const rows = await traces.rows<{ kind: number; key: string; id: string }>(
      "select kind, key, id from call_places_v2 final where (id in {ids:Array(String)} or key in {ids:Array(String)}) order by kind, key, id",
      { ids: [timed, other, whole] },
    )
    return rows.map(({ kind, key, id }) => `${kind} ${key} ${id}`)
  }
  expect(await places()).toEqual([`0  ${whole}`, `1 t ${whole}`])
  await addMissingPlaces(traces)
  expect(await places()).toEqual([
    `0  ${timed}`,
    `0  ${whole}`,
    `0  ${other}`,
    `1 t ${timed}`,
    `1 t ${whole}`,
    `1 t ${other}`,
    `2 ${other} `,
  ])
})

test("the memory of rows is given back once they are stored, alone and beside others; the requests that follow are stored", async () => {
  const large = (number: number) => {
    const batch = batchOf(callId("09", number), JSON.stringify("x".repeat(100_000)))
    // The builder may have taken more memory than it used.
    return { ...batch, rows: Buffer.concat([batch.rows]) }
  }
  const writer = writerOf(traces)
  const alone = large(1)
  await writer.add(alone)
  const beside = [large(2), large(3), large(4)]
  await Promise.all(beside.map((batch) => writer.add(batch)))
  expect([alone, ...beside].map(({ rows }) => rows.length)).toEqual([0, 0, 0, 0])
  expect(writer.heldBytes).toBe(0)
  await Promise.all([large(5), batchOf(callId("09", 6))].map((batch) => writer.add(batch)))
  expect(await stored("09")).toEqual([1, 2, 3, 4, 5, 6])
  const [{ bytes } = { bytes: "" }] = await traces.rows<{ bytes: string }>(
    "select sum(length(inputs)) as bytes from calls_v2 final where project_id = {project:UUID} and startsWith(id, {prefix:String})",
    { project, prefix: callId("09", 0).slice(0, 24) },
  )
  expect(Number(bytes)).toBe(5 * 100_004 + 4)
})
