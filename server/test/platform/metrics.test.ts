/** `GET /metrics`: only administrators read it, and it has the figures of a server that has done some work. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { callerOf, openTestApp, type TestApp } from "../support/test-app.ts"
import { readMetrics } from "../support/metrics.ts"

let opened: TestApp
beforeAll(async () => {
  opened = await openTestApp()
})
afterAll(() => opened.close())

test("administrators read it, and nobody else", async () => {
  const answer = await opened.admin.get("/metrics")
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
  expect((await opened.acme.get("/metrics")).status).toBe(403)
  expect((await callerOf(() => opened.app, "no_such_key", "x").get("/metrics")).status).toBe(401)
})

test("it counts the work of the stores and the bodies, and watches the event loop", async () => {
  const before = await readMetrics(opened.admin)
  expect((await opened.acme.post("/call/read", { project_id: "acme/none", id: "x" })).status).toBe(403)
  await opened.acme.post("/calls/stream_query", { project_id: "acme/made", limit: 1 })
  const after = await readMetrics(opened.admin)
  const finished = 'heddle_queue_finished_total{queue="catalog",kind="heavy"}'
  expect(after.get(finished)).toBeGreaterThan(before.get(finished) ?? Infinity)
  expect(after.get('heddle_queue_running{queue="trace_queries",kind="lookup"}')).toBe(0)
  expect(after.get('heddle_queue_waiting{queue="trace_exports",kind="heavy"}')).toBe(0)
  expect(after.get('heddle_queue_cancelled_total{queue="trace_inserts",while="running"}')).toBe(0)
  expect(after.get('heddle_queue_refused_total{queue="catalog",reason="late"}')).toBe(0)
  expect(after.get("heddle_body_memory_bytes")).toBe(0)
  expect(after.get("heddle_chat_choices")).toBe(0)
  expect(after.get("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0)
})
