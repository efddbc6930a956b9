/** Heavy and abandoned queries of one user do not delay small ones of another team (law 8). */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { callServer, type OpenCall } from "../support/leaving-client.ts"
import { busyGauges, readMetrics } from "../support/metrics.ts"
import { storeCalls } from "../support/stored-calls.ts"

/** The same limits for the embedded store and for ClickHouse. */
const limits = {
  ...defaultLimits,
  trace_queries_at_once: 4,
  clickhouse_queries_at_once: 4,
  trace_exports_at_once: 2,
  clickhouse_exports_at_once: 2,
  trace_waiting_per_user: 60,
}
const soon = { timeout: 60_000 }

let opened: EvaluationApp
let server: URL
let open: OpenCall[] = []
beforeAll(async () => {
  opened = await openEvaluationApp({ limits })
  server = new URL(await opened.app.server.listen({ host: "127.0.0.1", port: 0 }))
  for (let batch = 0; batch < 8; batch++) {
    const calls = Array.from({ length: 250 }, (_, index) => callOf(batch * 250 + index, "x".repeat(20_000)))
    await storeCalls(opened.app, "acme/large", calls)
  }
  await storeCalls(opened.app, "rival/small", [callOf(9_000, "needle"), callOf(9_001, "hay")])
})
afterEach(async () => {
  for (const call of open) call.leave()
  open = []
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
})
afterAll(() => opened.close())

function callOf(number: number, text: string) {
  const times = { started_at: "2026-01-02 03:04:05.000001", trace_id: uuid(number), op_name: "op" }
  return { id: uuid(number), ...times, inputs: JSON.stringify({ text }) }
}

/**
 * A query with seconds of work: it parses 40 MB of JSON a hundred times, because of the colon, which a text search
 * excludes.
 */
const heavy = {
  project_id: "acme/large",
  query: { $expr: { $or: Array.from({ length: 100 }, (_, index) => contains(`no such text: ${index}`)) } },
}

function contains(text: string) {
  return { $contains: { input: { $getField: "inputs.text" }, substr: { $literal: text }, case_insensitive: true } }
}

function attack(count: number, path = "/calls/stream_query", body: object = heavy): OpenCall[] {
  const calls = Array.from({ length: count }, () => callServer(server, opened.acme.key, path, body))
  open.push(...calls)
  return calls
}

/** Counts of heavy work in one queue, from the metrics. */
async function heavyWork(queue = "trace_queries") {
  const metrics = await readMetrics(opened.admin)
  const of = (name: string, labels: string) => metrics.get(`heddle_queue_${name}{queue="${queue}",${labels}}`) ?? NaN
  return {
    running: of("running", 'kind="heavy"'),
    waiting: of("waiting", 'kind="heavy"'),
    finished: of("finished_total", 'kind="heavy"'),
    cancelled: of("cancelled_total", 'while="waiting"') + of("cancelled_total", 'while="running"'),
  }
}

/** Queries that run in the store, without this one. */
function inTheStore(): Promise<unknown[]> {
  const sql = "select query from system.processes where query not like '%system.processes%'"
  return opened.app.stores.traces.rows(sql, {}, { kind: "lookup" })
}

test("security H5: fifty heavy queries of one user hold up neither a look-up nor a query of another team", async () => {
  const attackers = attack(50)
  await expect.poll(async () => (await heavyWork()).waiting, soon).toBeGreaterThan(40)
  const found = await opened.rival.post("/call/read", { project_id: "rival/small", id: uuid(9_000) })
  expect(found.body).toMatchObject({ call: { inputs: { text: "needle" } } })
  const query = { project_id: "rival/small", query: { $expr: contains("NEEDLE") }, columns: ["id"] }
  const lines = await opened.rival.lines("/calls/stream_query", query)
  expect(lines).toMatchObject([{ id: uuid(9_000) }])
  // In the order of arrival, both answers would have come after all fifty.
  expect(attackers.filter(({ isOver }) => isOver).length).toBeLessThan(10)
})

test("security H5: queries whose clients have left do not run, and those that run are stopped in the store", async () => {
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
  const before = await heavyWork()
  const attackers = attack(40)
  await expect.poll(() => heavyWork(), soon).toMatchObject({ running: 2, waiting: 38 })
  for (const attacker of attackers) attacker.leave()
  const found = await opened.rival.post("/call/read", { project_id: "rival/small", id: uuid(9_001) })
  expect(found.body).toMatchObject({ call: { inputs: { text: "hay" } } })
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
  await expect.poll(inTheStore, soon).toEqual([])
  const after = await heavyWork()
  // Only cancelled work is counted, since work in the background goes on and is finished meanwhile.
  expect(after.cancelled - before.cancelled).toBe(40)
})

test("law 8: an answer that breaks off in the middle of its stream leaves no query behind", async () => {
  const before = await heavyWork()
  // The first lines come at once, and the rest is read in large batches.
  const [reader] = attack(1, "/calls/stream_query", { project_id: "acme/large", columns: ["inputs"] }) as [OpenCall]
  await expect.poll(async () => (await heavyWork()).finished, soon).toBeGreaterThan(before.finished)
  reader.leave()
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
  await expect.poll(inTheStore, soon).toEqual([])
})

test("security H5: exports whose clients have left are stopped; one user's do not hold up another's", async () => {
  const before = await heavyWork("trace_exports")
  const attackers = attack(10, "/export/calls", { ...heavy, format: "csv" })
  await expect.poll(() => heavyWork("trace_exports"), soon).toMatchObject({ running: 1, waiting: 9 })
  const exported = await opened.rival.post("/export/calls", {
    project_id: "rival/small",
    format: "csv",
    columns: ["id"],
  })
  expect([exported.status, exported.text.includes(uuid(9_000))]).toEqual([200, true])
  expect(await heavyWork("trace_exports")).toMatchObject({ running: 1, waiting: 9 })
  for (const attacker of attackers) attacker.leave()
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
  await expect.poll(inTheStore, soon).toEqual([])
  const after = await heavyWork("trace_exports")
  expect(after.cancelled - before.cancelled).toBe(10)
})

test("law 8: beyond the queries that one user may have waiting, 429 says when to come again", async () => {
  const attackers = attack(100)
  let served = 0
  for (const { answer } of attackers) void answer.then((given) => (served += given?.status === 200 ? 1 : 0))
  const refused = await Promise.any(attackers.map(refusalOf))
  expect([refused.headers["retry-after"], JSON.parse(refused.text)]).toEqual([
    "2",
    {
      reason:
        "60 queries of the trace store that you asked for wait already, and no user may have more; " +
        "wait for some of their answers, then send this again",
      error_type: expect.any(String) as string,
    },
  ])
  const found = await opened.rival.post("/call/read", { project_id: "rival/small", id: uuid(9_000) })
  expect(found.status).toBe(200)
  expect(served).toBeLessThan(10)
})

async function refusalOf({ answer }: OpenCall) {
  const given = await answer
  if (given?.status !== 429) throw new Error(`answered with ${given?.status}`)
  return given
}
