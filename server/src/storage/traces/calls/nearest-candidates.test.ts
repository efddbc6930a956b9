/** The newest and the oldest places of calls, asked for again after others came and went. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../test/support/clickhouse-database.ts"
import { openTraces } from "../open-traces.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { nearestCandidates } from "./nearest-candidates.ts"

let folder: string
let store: TraceStore
/** The store, which takes note of its statements. */
let traces: TraceStore
const asked: string[] = []
let projectId: string
let projects = 0

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-candidates-"))
  store = await openTraces({ clickhouseUrl: newClickHouseUrl(), folder })
  await store.command("system stop merges call_places_v2")
  const rows: TraceStore["rows"] = (sql, parameters, limits) => {
    asked.push(sql)
    return store.rows(sql, parameters, limits)
  }
  traces = Object.assign(Object.create(store) as TraceStore, { rows })
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  projectId = `11111111-1111-4111-8111-${String(projects++).padStart(12, "0")}`
  asked.splice(0)
})

/** Places by time of calls that begin at these seconds. */
function place(...seconds: number[]): Promise<void> {
  const lines = seconds.map((second) =>
    JSON.stringify({
      kind: 0,
      project_id: projectId,
      key: "",
      started_at: `2026-01-02 03:04:${String(second).padStart(2, "0")}.000000`,
      id: `call-${second}`,
      sort_time: second,
    }),
  )
  return store.insert("call_places_v2", lines.join("\n"))
}

async function nearest(direction: "asc" | "desc", count: number, startedAt: string | null = null): Promise<number[]> {
  const found = await nearestCandidates(traces, { projectId, startedAt, parameters: {} }, direction, count)
  return found.map(({ sort_time }) => sort_time)
}

test("what came since is among the newest; asked again, nothing is read that is older than they were", async () => {
  await place(1, 2, 3, 4, 5)
  expect(await nearest("desc", 3)).toEqual([5, 4, 3])
  expect(asked).toHaveLength(1)
  expect(await nearest("desc", 3)).toEqual([5, 4, 3])
  expect(asked).toHaveLength(2)
  expect(asked[1]).toMatch(/started_at >= \{\w+:DateTime64/)
  await place(9, 0, 4)
  expect(await nearest("desc", 3)).toEqual([9, 5, 4])
  await place(7, 8)
  expect(await nearest("desc", 3)).toEqual([9, 8, 7])
})

test("the oldest ones, too, and each number of them for itself", async () => {
  await place(11, 12, 13, 14)
  expect(await nearest("asc", 2)).toEqual([11, 12])
  await place(10, 3)
  expect(await nearest("asc", 2)).toEqual([3, 10])
  expect(await nearest("asc", 4)).toEqual([3, 10, 11, 12])
  expect(await nearest("desc", 2)).toEqual([14, 13])
})

test("fewer than were asked for are all, also when more came since", async () => {
  await place(1, 2)
  expect(await nearest("desc", 3)).toEqual([2, 1])
  await place(0, 3)
  expect(await nearest("desc", 3)).toEqual([3, 2, 1])
})

test("a place that was stored several times counts once, merged or not", async () => {
  await place(1, 2, 3, 4)
  for (let again = 0; again < 5; again++) await place(4, 3)
  expect(await nearest("desc", 3)).toEqual([4, 3, 2])
  expect(await nearest("desc", 5)).toEqual([4, 3, 2, 1])
  await store.command("system start merges call_places_v2")
  await store.command("optimize table call_places_v2 final")
  expect(await nearest("desc", 3)).toEqual([4, 3, 2])
  expect(await nearest("desc", 5)).toEqual([4, 3, 2, 1])
})

test("a place that was stored twice costs no second statement once the end is known", async () => {
  await place(1, 2, 3, 4)
  await place(4, 3)
  expect(await nearest("desc", 3)).toEqual([4, 3, 2])
  asked.splice(0)
  expect(await nearest("desc", 3)).toEqual([4, 3, 2])
  expect(asked).toHaveLength(1)
})

test("places of a project that was removed are not there", async () => {
  await place(1, 2, 3)
  expect(await nearest("desc", 2)).toEqual([3, 2])
  await store.command(
    "alter table call_places_v2 delete where project_id = {projectId:UUID} settings mutations_sync = 1",
    {
      projectId,
    },
  )
  expect(await nearest("desc", 2)).toEqual([])
  await place(1, 2)
  expect(await nearest("desc", 2)).toEqual([2, 1])
})

test("a condition on the start is held against every place", async () => {
  await place(1, 2, 3, 4, 5)
  expect(await nearest("desc", 2)).toEqual([5, 4])
  expect(await nearest("desc", 2, "started_at < '2026-01-02 03:04:03'")).toEqual([2, 1])
})
