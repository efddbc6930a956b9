/** After connections broke at any point, nothing runs or waits, and every write is whole or absent (laws 1, 2, 8). */
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { busyGauges, readMetrics } from "../support/metrics.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { storeCalls } from "../support/stored-calls.ts"

const connections = 200
const callsOfBatch = 40
const rowsOfTable = 60
const project = "acme/killed"
const soon = { timeout: 60_000 }

let opened: EvaluationApp
let server: URL
beforeAll(async () => {
  opened = await openEvaluationApp()
  server = new URL(await opened.app.server.listen({ host: "127.0.0.1", port: 0 }))
  const inputs = JSON.stringify({ text: "x".repeat(10_000) })
  const times = { started_at: "2026-01-02 03:04:05.000001", op_name: "op" }
  const calls = Array.from({ length: 1_000 }, (_, n) => ({ id: uuid(n), trace_id: uuid(n), ...times, inputs }))
  await storeCalls(opened.app, project, calls)
})
afterAll(() => opened.close())

interface Sent {
  path: string
  body: object
}

const batch = (n: number): Sent => ({
  path: "/call/upsert_batch",
  body: {
    batch: Array.from({ length: callsOfBatch }, (_, index) => ({
      mode: "start",
      req: {
        start: {
          project_id: project,
          id: uuid(100_000 + n * 1_000 + index),
          trace_id: uuid(100_000 + n),
          op_name: "op",
          started_at: "2026-02-02T03:04:05.000001Z",
          attributes: {},
          inputs: { index },
        },
      },
    })),
  },
})
const object = (n: number): Sent => ({
  path: "/obj/create",
  body: { obj: { project_id: project, object_id: `object-${n}`, val: { text: "y".repeat(5_000), n } } },
})
const table = (n: number): Sent => ({
  path: "/table/create",
  body: { table: { project_id: project, rows: Array.from({ length: rowsOfTable }, (_, row) => ({ n, row })) } },
})
const contains = (text: string) => ({
  $contains: { input: { $getField: "inputs.text" }, substr: { $literal: text }, case_insensitive: true },
})
const query = (): Sent => ({
  path: "/calls/stream_query",
  body: { project_id: project, query: { $expr: { $or: ["a", "b", "c", "d"].map(contains) } } },
})
const whole = (): Sent => ({ path: "/calls/stream_query", body: { project_id: project } })
const exported = (): Sent => ({ path: "/export/calls", body: { project_id: project, format: "csv" } })
const read = (): Sent => ({ path: "/call/read", body: { project_id: project, id: uuid(7) } })
const kinds = [batch, object, table, query, whole, exported, read]

/** Sends a share `part` of the request, from 0 to 1, and breaks the connection after `ms`. */
async function sendAndBreak({ path, body }: Sent, part: number, ms: number): Promise<void> {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${opened.acme.key}\r\n`
  const message = `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  const socket = connect(Number(server.port), server.hostname)
  socket.on("error", () => undefined).resume()
  socket.write(message.slice(0, Math.ceil(message.length * part)))
  await sleep(ms)
  socket.resetAndDestroy()
}

async function countOf(n: number): Promise<number> {
  const filter = { trace_ids: [uuid(100_000 + n)] }
  const answer = await opened.acme.post("/calls/query_stats", { project_id: project, filter })
  return (answer.body as { count: number }).count
}

test("law 8: two hundred connections broken at random points leave no work behind and nothing half written", async () => {
  const random = seededRandom(7)
  const sent: { kind: (typeof kinds)[number]; n: number }[] = []
  const broken: Promise<void>[] = []
  for (let n = 0; n < connections; n++) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? read
    sent.push({ kind, n })
    broken.push(sendAndBreak(kind(n), random() < 0.2 ? random() : 1, random() ** 2 * 400))
    if (n % 10 === 9) await sleep(random() * 60)
  }
  await Promise.all(broken)
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
  const { stores } = opened.app
  const running = "select query from system.processes where query not like '%system.processes%'"
  await expect.poll(() => stores.traces.rows(running, {}, { kind: "lookup" }), soon).toEqual([])
  const metrics = await readMetrics(opened.admin)
  const cancelled = Array.from(metrics).flatMap(([name, value]) => (name.includes("cancelled_total") ? [value] : []))
  expect(cancelled.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)

  for (const { kind, n } of sent) {
    if (kind === batch) {
      expect([0, callsOfBatch]).toContain(await countOf(n))
    } else if (kind === object) {
      const found = await opened.acme.post("/obj/read", {
        project_id: project,
        object_id: `object-${n}`,
        digest: "latest",
      })
      if (found.status !== 404) expect(found.body).toMatchObject({ obj: { val: { text: "y".repeat(5_000), n } } })
    }
  }
  // The same requests once more are stored, and only once (law 2).
  const again = sent.filter(({ kind }) => kind === batch || kind === object || kind === table)
  for (const { kind, n } of again) {
    const { path, body } = kind(n)
    const answer = await opened.acme.post(path, body)
    expect(answer.status).toBe(200)
    if (kind === batch) expect(await countOf(n)).toBe(callsOfBatch)
    if (kind === table) {
      const { digest } = answer.body as { digest: string }
      const found = await opened.acme.post("/table/query", { project_id: project, digest })
      expect((found.body as { rows: unknown[] }).rows).toHaveLength(rowsOfTable)
    }
  }
})
