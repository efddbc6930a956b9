/** How long a project keeps its calls: the setting, when each call goes, and that it goes. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { removeExpiredCalls } from "../../src/storage/expired-call-removal.ts"
import { removeDeletedPayloads } from "../../src/storage/traces/calls/removal/deleted-payloads.ts"
import type { TraceStore } from "../../src/storage/traces/store/trace-store.ts"
import { auditLogPage } from "../../src/wire/platform/audit-log.ts"
import { must } from "../support/answers.ts"
import { sendSpans, spanId, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const dayMs = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const remove = () => removeExpiredCalls(opened.app.stores, silent)

const keep = (project_id: string, retention_days: unknown) =>
  opened.acme.post("/project/ttl_settings/update", { project_id, retention_days })

async function kept(project_id: string): Promise<unknown> {
  return (await opened.acme.post("/project/ttl_settings/read", { project_id })).body
}

interface Call {
  id: string
  days: number
  trace?: string
  parent?: string
  /** false: it runs. */
  ended?: boolean
  text?: string
}

async function write(project_id: string, ...calls: Call[]): Promise<void> {
  const batch = calls.map(({ id, days, trace, parent, ended = true, text = "" }) => {
    const started_at = daysAgo(days)
    const start = {
      project_id,
      id,
      trace_id: trace ?? (id.length === 16 ? traceId(id) : id),
      parent_id: parent ?? null,
      op_name: "op",
      started_at,
    }
    const payloads = { attributes: {}, inputs: { text } }
    const end = { project_id, id, ended_at: started_at, output: null, summary: {} }
    return ended
      ? [
          { mode: "start", req: { start: { ...start, ...payloads } } },
          { mode: "end", req: { end } },
        ]
      : [{ mode: "start", req: { start: { ...start, ...payloads } } }]
  })
  await must(opened.acme.post("/call/upsert_batch", { batch: batch.flat() }))
}

interface Shown {
  id: string
  started_at: string
  expire_at?: string | null
}

async function list(project_id: string, fields: object = {}): Promise<Shown[]> {
  return (await opened.acme.lines("/calls/stream_query", { project_id, ...fields })) as Shown[]
}

async function ids(project_id: string, fields: object = {}): Promise<string[]> {
  return (await list(project_id, fields)).map(({ id }) => id).toSorted()
}

describe("objects 10: the limit of a project", () => {
  test("is taken, told, changed and taken back", async () => {
    const [project, other] = [opened.acme.newProject(), opened.acme.newProject()]
    await write(other, { id: randomUUID(), days: 0 })
    expect(await keep(project, 30)).toMatchObject({ status: 200, body: { retention_days: 30 } })
    expect(await kept(project)).toEqual({ retention_days: 30 })
    await keep(project, 36_500)
    expect([await kept(project), await kept(other)]).toEqual([{ retention_days: 36_500 }, { retention_days: null }])
    expect(await keep(project, null)).toMatchObject({ status: 200, body: { retention_days: null } })
    expect(await kept(project)).toEqual({ retention_days: null })
  })

  test.each([0, -1, 36_501, 1.5, "30", 1e300])("%j is 422 that names it, and changes nothing", async (value) => {
    const project = opened.acme.newProject()
    await keep(project, 7)
    const message = `${JSON.stringify(value)} is no whole number of days from 1 to 36500; null keeps calls until they are deleted`
    expect(await keep(project, value)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "retention_days"], msg: message }] },
    })
    expect(await kept(project)).toEqual({ retention_days: 7 })
  })

  test("who changed it is on record; the same again is no change", async () => {
    const project = opened.acme.newProject()
    for (const days of [30, 30, null, null]) await keep(project, days)
    const query = `event_types[]=project.retention_updated&resource_ids[]=${encodeURIComponent(project)}`
    const page = auditLogPage.parse((await opened.admin.get(`/v1/organization/audit_logs?${query}`)).body)
    expect(page.data).toMatchObject([
      { team: "acme", "project.retention_updated": { id: project, retention_days: null } },
      { team: "acme", "project.retention_updated": { id: project, retention_days: 30 } },
    ])
  })
})

describe("calls 3.1: expire_at", () => {
  test("is the start and the days of the project, null without a limit, and follows a change at once", async () => {
    const project = opened.acme.newProject()
    const id = randomUUID()
    const start = { project_id: project, id, trace_id: id, op_name: "op", attributes: {}, inputs: {} }
    await opened.acme.post("/call/start", { start: { ...start, started_at: "2026-02-27T23:59:59.123456Z" } })
    const shown = async () => {
      const read = (await opened.acme.post("/call/read", { project_id: project, id })).body as { call: Shown }
      const [line] = await list(project, { columns: ["expire_at"] })
      const [exported] = (await opened.acme.lines("/export/calls", { project_id: project, format: "jsonl" })) as Shown[]
      return [read.call.expire_at, line?.expire_at, exported?.expire_at]
    }
    expect(await shown()).toEqual([null, null, null])
    await keep(project, 2)
    expect(await shown()).toEqual(Array(3).fill("2026-03-01T23:59:59.123456Z"))
    await keep(project, 36_500)
    expect(await shown()).toEqual(Array(3).fill("2126-02-03T23:59:59.123456Z"))
    await keep(project, null)
    expect(await shown()).toEqual([null, null, null])
    expect(await list(project, { columns: ["op_name"] })).toEqual([expect.not.objectContaining({ expire_at: null })])
  })

  test("calls 3.6: is a field of queries and sorts", async () => {
    const project = opened.acme.newProject()
    const [older, younger] = [spanId("a"), spanId("b")]
    await write(project, { id: older, days: 3 }, { id: younger, days: 1 })
    const goesBefore = (at: string) => ({
      query: { $expr: { $lt: [{ $getField: "expire_at" }, { $literal: at }] } },
    })
    expect(await ids(project, goesBefore(daysAgo(-8)))).toEqual([])
    await keep(project, 10)
    expect(await ids(project, goesBefore(daysAgo(-8)))).toEqual([older])
    expect(await ids(project, goesBefore(daysAgo(-20)))).toEqual([older, younger])
    const sorted = await list(project, { sort_by: [{ field: "expire_at", direction: "desc" }] })
    expect(sorted.map(({ id }) => id)).toEqual([younger, older])
    const stats = { project_id: project, ...goesBefore(daysAgo(-8)) }
    expect((await opened.acme.post("/calls/query_stats", stats)).body).toMatchObject({ count: 1 })
  })
})

describe("calls past the limit of their project", () => {
  test("objects 10: are gone from every read when the work of the day is done, and younger ones stay", async () => {
    const [project, other, unlimited] = [opened.acme.newProject(), opened.acme.newProject(), opened.acme.newProject()]
    const [old, child, young, running, unended] = ["1", "2", "4", "5", "3"].map(spanId) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const all = [
      { id: old, days: 10 },
      // A child counts by its own start.
      { id: child, days: 6.9, trace: traceId(old), parent: old },
      { id: young, days: 1 },
      { id: running, days: 8, ended: false },
      { id: unended, days: 2, ended: false },
    ]
    for (const name of [project, other, unlimited]) await write(name, ...all)
    await keep(project, 7)
    await keep(other, 11)
    expect(await ids(project)).toHaveLength(5)
    expect(await remove()).toBe(2)

    const left = [child, unended, young]
    expect(await ids(project)).toEqual(left)
    const newest = { sort_by: [{ field: "started_at", direction: "desc" }], limit: 10 }
    expect(await ids(project, newest)).toEqual(left)
    expect(await ids(project, { filter: { call_ids: [old, running, young] } })).toEqual([young])
    expect(await ids(project, { filter: { trace_ids: [traceId(old), traceId(running)] } })).toEqual([child])
    for (const id of [old, running]) {
      expect((await opened.acme.post("/call/read", { project_id: project, id })).body).toEqual({ call: null })
    }
    const counted = await opened.acme.post("/calls/query_stats", { project_id: project })
    expect(counted.body).toMatchObject({ count: 3 })
    const range = { start: daysAgo(20), end: daysAgo(-1), granularity: 86_400 }
    const metrics = [{ metric: "call_count", aggregations: ["sum"] }]
    const stats = await opened.acme.post("/calls/stats", { project_id: project, ...range, call_metrics: metrics })
    const buckets = (stats.body as { call_buckets: { sum_call_count: number }[] }).call_buckets
    expect(buckets.reduce((sum, bucket) => sum + (bucket.sum_call_count ?? 0), 0)).toBe(3)
    for (const name of [other, unlimited]) expect(await ids(name)).toHaveLength(5)
    expect(await remove()).toBe(0)
  })

  test("calls 2.3: nothing that comes late brings one back, and its payloads leave the disk", async () => {
    const project = opened.acme.newProject()
    const [gone, stays] = [randomUUID(), randomUUID()]
    await write(project, { id: gone, days: 9, ended: false, text: "x".repeat(1_000) }, { id: stays, days: 1 })
    await keep(project, 7)
    await remove()
    const end = { project_id: project, id: gone, ended_at: daysAgo(0), output: "late", summary: {} }
    expect((await opened.acme.post("/call/end", { end })).status).toBe(200)
    await opened.acme.post("/call/update", { project_id: project, call_id: gone, display_name: "late" })
    await keep(project, null)
    expect(await ids(project)).toEqual([stays])
    expect(await removeDeletedPayloads(opened.app.stores.traces)).toBe(true)
    const [row] = await opened.app.stores.traces.rows<{ bytes: string }>(
      "select sum(length(ifNull(inputs, '')) + length(ifNull(output, ''))) as bytes from calls_v2 where id = {gone:String}",
      { gone },
    )
    expect(Number(row?.bytes)).toBe(0)
    expect(await ids(project)).toEqual([stays])
  })

  test("objects 10: a call that was started again counts by its new start", async () => {
    const project = opened.acme.newProject()
    const [later, earlier] = [randomUUID(), randomUUID()]
    await write(project, { id: later, days: 9 }, { id: earlier, days: 1 })
    await write(project, { id: later, days: 2 }, { id: earlier, days: 8 })
    await keep(project, 7)
    expect(await remove()).toBe(1)
    expect(await ids(project)).toEqual([later])
  })

  test("calls 10: spans of agents go with their calls", async () => {
    const project = opened.acme.newProject()
    const attributes = { "gen_ai.agent.name": "helper", "gen_ai.operation.name": "invoke_agent" }
    const began = Date.parse("2026-03-01T10:00:00Z")
    const seconds = (days: number) => Math.round((Date.now() - days * dayMs - began) / 1000)
    await sendSpans(
      opened.acme,
      project,
      { trace: "1", id: "1", at: seconds(9), attributes },
      { trace: "1", id: "2", parent: "1", at: seconds(2), attributes },
    )
    await keep(project, 7)
    await remove()
    const spans = await opened.acme.post("/agents/spans/query", { project_id: project })
    expect((spans.body as { spans: { span_id: string }[] }).spans.map(({ span_id }) => span_id)).toEqual([spanId("2")])
    expect(await ids(project)).toEqual([spanId("2")])
  })

  test("objects 10: one entry before and one after tell how many went; a day on which none goes has no entry", async () => {
    const project = opened.acme.newProject()
    await write(project, { id: randomUUID(), days: 9 }, { id: randomUUID(), days: 8 }, { id: randomUUID(), days: 1 })
    await keep(project, 7)
    await Promise.all([remove(), remove()])
    await remove()
    const query = `event_types[]=call.deleted&resource_ids[]=${encodeURIComponent(project)}`
    const page = auditLogPage.parse((await opened.admin.get(`/v1/organization/audit_logs?${query}`)).body)
    const entry = { actor: { type: "server" }, team: "acme", "call.deleted": { retention_days: 7, count: 2 } }
    expect(page.data).toMatchObject([
      { outcome: "succeeded", ...entry },
      { outcome: "begun", ...entry },
    ])
  })

  /** Makes `old` calls that all began at one moment nine days ago, and `young` of yesterday, more than a request may have. */
  async function writeMany(project: string, { old, young }: { old: number; young: number }): Promise<void> {
    const first = randomUUID()
    await write(project, { id: first, days: 9 })
    await opened.app.stores.traces.command(
      `insert into calls_v2 (project_id, sort_time, id, trace_id, op_name, started_at)
        select (select any(project_id) from calls_v2 where id = {first:String}), toUnixTimestamp64Milli(start),
          toString(number), 'many', 'op', start
        from (select number, parseDateTime64BestEffort(if(number < {old:UInt64}, {at:String}, {younger:String}), 6, 'UTC')
          as start from numbers({all:UInt64}))`,
      { first, old: old - 1, all: old - 1 + young, at: daysAgo(9), younger: daysAgo(1) },
    )
  }

  const countOf = async (project_id: string) =>
    ((await opened.acme.post("/calls/query_stats", { project_id })).body as { count: number }).count

  test("law 8: more calls than one slice go, also when they began at once", { timeout: 120_000 }, async () => {
    const project = opened.acme.newProject()
    await writeMany(project, { old: 150_000, young: 50_000 })
    await keep(project, 7)
    expect(await remove()).toBe(150_000)
    expect(await countOf(project)).toBe(50_000)
  })

  /** The store, with `act` done once, after the first statement that changes it and begins so. */
  function interrupted(act: () => Promise<unknown>, beginning = ""): TraceStore {
    const store = opened.app.stores.traces
    let isDone = false
    return new Proxy(store, {
      get: (_, name: keyof TraceStore) => {
        const member: unknown = store[name]
        if (name !== "command") return typeof member === "function" ? (member.bind(store) as unknown) : member
        return async (...statement: Parameters<TraceStore["command"]>) => {
          await store.command(...statement)
          if (isDone || !statement[0].startsWith(beginning)) return
          isDone = true
          await act()
        }
      },
    })
  }

  test.each([null, 30])(
    "objects 10: a limit that becomes %j while they go saves those that are left",
    { timeout: 120_000 },
    async (days) => {
      const project = opened.acme.newProject()
      await writeMany(project, { old: 150_000, young: 1 })
      await keep(project, 7)
      const traces = interrupted(() => keep(project, days))
      const removed = await removeExpiredCalls({ ...opened.app.stores, traces }, silent)
      expect(removed).toBeGreaterThan(0)
      expect(await countOf(project)).toBe(150_001 - removed)
      expect(await countOf(project)).toBeGreaterThan(50_000)
    },
  )

  test("objects 10: an old call that is stored while others go is listed and counted until it goes itself", async () => {
    const [project, late] = [opened.acme.newProject(), spanId("2")]
    await write(project, { id: spanId("1"), days: 10 }, { id: spanId("3"), days: 10 })
    await keep(project, 7)
    const traces = interrupted(() => write(project, { id: late, days: 9 }), "insert into calls_v2 ")
    expect(await removeExpiredCalls({ ...opened.app.stores, traces }, silent)).toBe(2)
    const listed = () => ids(project, { sort_by: [{ field: "started_at", direction: "desc" }], limit: 10 })
    expect([await ids(project), await listed()]).toEqual([[late], [late]])
    const range = { start: daysAgo(20), end: daysAgo(-1), granularity: 86_400 }
    const metrics = [{ metric: "call_count", aggregations: ["sum"] }]
    const stats = await opened.acme.post("/calls/stats", { project_id: project, ...range, call_metrics: metrics })
    const buckets = (stats.body as { call_buckets: { sum_call_count: number }[] }).call_buckets
    expect(buckets.reduce((sum, bucket) => sum + (bucket.sum_call_count ?? 0), 0)).toBe(1)
    expect(await remove()).toBe(1)
    expect(await listed()).toEqual([])
  })

  test("objects 10: a second server leaves the project to the first", { timeout: 120_000 }, async () => {
    const project = opened.acme.newProject()
    await writeMany(project, { old: 150_000, young: 1 })
    await keep(project, 7)
    let bySecond = 0
    const traces = interrupted(async () => {
      // It would wait for the first.
      bySecond = await removeExpiredCalls(opened.app.stores, silent, AbortSignal.timeout(1_000))
    })
    expect(await removeExpiredCalls({ ...opened.app.stores, traces }, silent)).toBe(150_000)
    expect(bySecond).toBe(0)
    expect(await countOf(project)).toBe(1)
  })

  test("objects 10: what a killed server has left is done when its turn ends", async () => {
    const [project, young] = [opened.acme.newProject(), spanId("1")]
    await write(project, { id: randomUUID(), days: 9 }, { id: young, days: 1 })
    await keep(project, 7)
    const { catalog } = opened.app.stores
    const name = String(project.split("/")[1])
    const found = catalog.selectFrom("projects").select("id").where("name", "=", name)
    const killed = { lease_owner: randomUUID(), lease_expires_at: new Date(Date.now() + 2_000) }
    await catalog.updateTable("call_retention").set(killed).where("project_id", "=", found).execute()
    expect(await remove()).toBe(1)
    expect(await ids(project)).toEqual([young])
  })

  test("objects 10: a server that starts does it", async () => {
    const [project, young] = [opened.acme.newProject(), spanId("1")]
    await write(project, { id: randomUUID(), days: 9 }, { id: young, days: 1 })
    await keep(project, 7)
    await opened.restart()
    await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
    await vi.waitFor(async () => expect(await ids(project)).toEqual([young]), { timeout: 20_000, interval: 100 })
  })
})
