/** Where rows of calls are stored whose ids hold no time, by one server and by several. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../../test/support/clickhouse-database.ts"
import { inScope } from "../../../../work/work-scope.ts"
import { openTraces } from "../../open-traces.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { type CallBatch, CallBatchBuilder, type CallPayloads, type CallTexts } from "./call-batch.ts"
import { CallWriter } from "./calls-write.ts"
import { SeenIds } from "./seen-ids.ts"
import { readCallRows } from "../call-row-reads.ts"

const project = "11111111-1111-4111-8111-111111111111"
let folder: string
let traces: TraceStore

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-placer-"))
  traces = await openTraces({ clickhouseUrl: newClickHouseUrl(), folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

const failures: object[] = []
const writerOf = (store: TraceStore, most = 1000) =>
  new CallWriter(store, new SeenIds(store, { most, log: { error: (failure) => void failures.push(failure) } }))
afterEach(() => expect(failures.splice(0)).toEqual([]))

type Row = readonly [id: string, texts: CallTexts, payloads: CallPayloads]

function batchOf(...rows: readonly Row[]): CallBatch {
  const builder = new CallBatchBuilder(64)
  for (const [id, texts, payloads] of rows) builder.add({ projectId: project, id }, texts, payloads)
  return builder.batch()
}

function start(id: string, second: number): Row {
  const started_at = `2026-01-02 03:04:${String(second).padStart(2, "0")}.000001`
  return [id, { trace_id: "t", op_name: "op", started_at }, {}]
}

const end = (id: string, output: number): Row => [id, { ended_at: "2026-01-02 04:00:00" }, { output: String(output) }]

/** The visible call, and the number of its rows that reads may see. */
async function seen(
  id: string,
): Promise<[startedAt: string | undefined, output: string | null | undefined, rows: number]> {
  const [row] = await readCallRows(traces, project, [id], ["output"])
  const [live] = await traces.rows<{ n: number }>(
    "select toUInt32(count()) as n from calls_v2 final where id = {id:String} and started_at is not null and deleted_at is null",
    { id },
  )
  return [row?.started_at, row?.output, live?.n ?? 0]
}

let made = 0
const newId = () => `${String(++made).padStart(8, "0")}-0000-4000-8000-000000000000`

/** The store as servers see it that share it: each looks at the records of the others. */
function shared(intercept: (table: string) => Promise<void> = () => Promise.resolve()): TraceStore {
  return {
    queues: [],
    isExclusive: false,
    rows: (sql, parameters, limits) => traces.rows(sql, parameters, limits),
    command: (sql, parameters) => traces.command(sql, parameters),
    print: (sql, parameters, format) => traces.print(sql, parameters, format),
    ping: () => traces.ping(),
    close: () => Promise.resolve(),
    insert: (table, rows) => traces.insert(table, rows),
    insertCsv: async (table, columns, rows) => {
      await intercept(table)
      await traces.insertCsv(table, columns, rows)
    },
  }
}

describe.each([
  ["one server", () => writerOf(traces)],
  ["one server that remembers no ids", () => writerOf(traces, 0)],
  ["one of several servers", () => writerOf(shared())],
])("calls 2.3: %s", (_who, writer) => {
  test("joins an end that waited with its start, once", async () => {
    const one = writer()
    const id = newId()
    await one.add(batchOf(end(id, 1)))
    expect(await seen(id)).toEqual([undefined, undefined, 0])
    await one.add(batchOf(start(id, 1)))
    expect(await seen(id)).toEqual(["2026-01-02T03:04:01.000001Z", "1", 1])
    await one.add(batchOf(end(id, 2)))
    await one.add(batchOf(start(id, 1)))
    expect(await seen(id)).toEqual(["2026-01-02T03:04:01.000001Z", "2", 1])
  })

  test("takes a call that starts again at another time for the same call", async () => {
    const one = writer()
    const id = newId()
    await one.add(batchOf(start(id, 5), end(id, 1)))
    await one.add(batchOf(start(id, 3)))
    expect(await seen(id)).toEqual(["2026-01-02T03:04:03.000001Z", "1", 1])
    await one.add(batchOf(start(id, 9)))
    expect(await seen(id)).toEqual(["2026-01-02T03:04:09.000001Z", "1", 1])
  })

  test("knows the calls that the server before it has stored", async () => {
    const id = newId()
    await writerOf(traces).add(batchOf(start(id, 5)))
    const one = writer()
    await one.add(batchOf(start(newId(), 1)))
    await one.add(batchOf(end(id, 7)))
    expect(await seen(id)).toEqual(["2026-01-02T03:04:05.000001Z", "7", 1])
  })

  test("joins rows of one call that are sent at the same moment, in whatever order", async () => {
    const one = writer()
    const ids = Array.from({ length: 20 }, newId)
    const writes = ids.flatMap((id, index) => [start(id, 5), end(id, index), start(id, 4)])
    const rotated = writes.map((_, index) => writes[(index * 7) % writes.length] as Row)
    await Promise.all(rotated.map((row) => one.add(batchOf(row))))
    for (const [index, id] of ids.entries()) {
      const [, output, rows] = await seen(id)
      expect([output, rows]).toEqual([String(index), 1])
    }
  })
})

test("new ids are not looked up once those of the store are known", async () => {
  const ids = Array.from({ length: 5 }, newId)
  await writerOf(traces).add(batchOf(...ids.map((id) => start(id, 1))))
  let looks = 0
  const store: TraceStore = {
    ...shared(),
    isExclusive: true,
    rows: (sql, parameters, limits) => {
      looks++
      return traces.rows(sql, parameters, limits)
    },
  }
  const one = writerOf(store)
  await expect
    .poll(async () => {
      looks = 0
      await one.add(batchOf(start(newId(), 2), start(newId(), 3)))
      return looks
    })
    .toBe(0)
  await one.add(batchOf(start(newId(), 4), end(ids[3] as string, 9)))
  expect(looks).toBe(1)
  expect(await seen(ids[3] as string)).toEqual(["2026-01-02T03:04:01.000001Z", "9", 1])
})

test("a call may start in every row of a large batch", async () => {
  const id = newId()
  const builder = new CallBatchBuilder(64)
  const [, texts] = start(id, 1)
  for (let row = 0; row < 150_000; row++) builder.add({ projectId: project, id }, texts)
  let stored = 0
  const insertCsv: TraceStore["insertCsv"] = async (_table, _columns, { length }) => void (stored += length)
  await writerOf({ ...shared(), isExclusive: true, insertCsv }).add(builder.batch())
  expect(stored).toBeGreaterThan(150_000)
})

describe("calls 2.3: several servers", () => {
  /** A server whose inserts wait for `release`, once it has looked at what the others have recorded. */
  function held() {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const store = shared(async () => {
      reach()
      await released
    })
    return { writer: writerOf(store), reached, release }
  }

  test.each([
    ["a start and an end", (id: string) => [start(id, 5), end(id, 1)] as const, "2026-01-02T03:04:05.000001Z", "1"],
    ["an end and a start", (id: string) => [end(id, 1), start(id, 5)] as const, "2026-01-02T03:04:05.000001Z", "1"],
  ])("of which each knows nothing of the other's row show %s as one call", async (_what, rows, startedAt, output) => {
    const id = newId()
    const [first, second] = rows(id)
    const slow = held()
    const waiting = slow.writer.add(batchOf(first))
    await slow.reached
    await writerOf(shared()).add(batchOf(second))
    slow.release()
    await waiting
    expect(await seen(id)).toEqual([startedAt, output, 1])
  })

  test("show one call when the client of the later row has left", async () => {
    const id = newId()
    const slow = held()
    const client = new AbortController()
    const scope = { userId: "ann", teamId: "team", signal: client.signal }
    const waiting = inScope(scope, () => slow.writer.add(batchOf(end(id, 1))))
    await slow.reached
    await writerOf(shared()).add(batchOf(start(id, 5)))
    client.abort()
    slow.release()
    await waiting
    expect(await seen(id)).toEqual(["2026-01-02T03:04:05.000001Z", "1", 1])
  })

  test.each([
    ["earlier", 3, 7],
    ["later", 7, 3],
  ])(
    "that start a call at the same moment at different times keep it in one place, the %s first",
    async (_which, a, b) => {
      const id = newId()
      const slow = held()
      const waiting = slow.writer.add(batchOf(start(id, a), end(id, 1)))
      await slow.reached
      await writerOf(shared()).add(batchOf(start(id, b)))
      slow.release()
      await waiting
      const [startedAt, output, rows] = await seen(id)
      expect([output, rows]).toEqual(["1", 1])
      expect(startedAt).toMatch(/^2026-01-02T03:04:0[37]\.000001Z$/)
      await writerOf(shared()).add(batchOf(end(id, 2)))
      expect(await seen(id)).toEqual([startedAt, "2", 1])
    },
  )
})

/** Counts the ids that are asked for in one turn of the event loop. */
class CountedIds extends SeenIds {
  mostInTurn = 0
  #inTurn = 0

  override add(id: string): boolean {
    if (this.#inTurn === 0) setImmediate(() => (this.#inTurn = 0))
    this.#inTurn += 1
    this.mostInTurn = Math.max(this.mostInTurn, this.#inTurn)
    return super.add(id)
  }
}

test("law 1: large writes of the same calls, in opposite orders, let the event loop turn and join their rows", async () => {
  const own = "22222222-2222-4222-8222-222222222222"
  const rows = Array.from({ length: 12_000 }, (_, index) => start(newId(), index % 60))
  const ends = rows.map(([id]) => end(id, 1)).toReversed()
  const batches = [rows, ends].map((some) => {
    const builder = new CallBatchBuilder(64)
    for (const [id, texts, payloads] of some) builder.add({ projectId: own, id }, texts, payloads)
    return builder.batch()
  })
  const seenIds = new CountedIds(traces, { most: 100_000, log: { error: (failure) => void failures.push(failure) } })
  const writer = new CallWriter(traces, seenIds)
  await Promise.all(batches.map((batch) => writer.add(batch)))
  // The end of one and the beginning of the other may be in one turn.
  expect(seenIds.mostInTurn).toBeLessThan(10_000)
  const [whole] = await traces.rows<{ n: number }>(
    `select toUInt32(count()) as n from calls_v2 final
      where project_id = {own:UUID} and started_at is not null and ended_at is not null and deleted_at is null`,
    { own },
  )
  expect(whole).toEqual({ n: 12_000 })
})
