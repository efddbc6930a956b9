/**
 * ClickHouse goes away under the running server and comes back: law 1, law 2. A proxy is the network between them. The
 * embedded trace store cannot go away, so without ClickHouse nothing is tested.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { callsTable } from "../../src/storage/traces/calls/calls-tables.ts"
import { newClickHouseUrl } from "../support/clickhouse-database.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { TcpProxy } from "../support/tcp-proxy.ts"

const clickhouse = newClickHouseUrl()
const soon = { timeout: 20_000, interval: 50 }
const message = "the trace store (ClickHouse) cannot be reached; try again a little later"
const away = { reason: message, error_type: "traces_unavailable" }

describe.skipIf(clickhouse === null)("a trace store that goes away", () => {
  let proxy: TcpProxy
  let opened: EvaluationApp
  beforeAll(async () => {
    proxy = await TcpProxy.open(clickhouse as string)
    opened = await openEvaluationApp({ clickhouseUrl: proxy.url })
  })
  afterEach(async () => {
    proxy.mend()
    await expect.poll(async () => (await opened.acme.get("/v1/health")).status, soon).toBe(200)
  })
  afterAll(async () => {
    await opened.close()
    await proxy.close()
  })

  function call(project_id: string, id: string, output: string) {
    const times = { started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:01Z" }
    return { project_id, id, trace_id: id, op_name: "op", attributes: {}, inputs: {}, output, summary: {}, ...times }
  }
  const complete = (project: string, ...ids: string[]) =>
    opened.acme.post(`/v2/${project}/calls/complete`, { batch: ids.map((id) => call(project, id, "o")) })
  const newId = () => randomUUID()

  async function stored(project: string): Promise<string[]> {
    const calls = (await opened.acme.lines("/calls/stream_query", { project_id: project })) as { id: string }[]
    return calls.map(({ id }) => id)
  }

  test("reads and writes are answered 503 with Retry-After, the ready checks too; afterwards all is as before", async () => {
    const project = opened.acme.newProject()
    const [first, second] = [newId(), newId()]
    expect((await complete(project, first)).status).toBe(200)
    proxy.cut()
    const refused = [
      await complete(project, second),
      await opened.acme.post("/calls/stream_query", { project_id: project }),
      await opened.acme.post("/calls/query_stats", { project_id: project }),
      await opened.acme.post("/feedback/query", { project_id: project }),
      await opened.acme.post("/call/read", { project_id: project, id: first }),
    ]
    for (const answer of refused) {
      expect([answer.status, answer.headers["retry-after"], answer.body]).toEqual([503, "2", away])
    }
    expect(await opened.acme.get("/v1/health")).toMatchObject({ status: 503, body: { detail: message } })
    expect(await opened.acme.get("/health")).toMatchObject({ status: 503, body: { error: { message } } })
    proxy.mend()
    expect((await complete(project, second)).status).toBe(200)
    expect((await stored(project)).toSorted()).toEqual([first, second].toSorted())
  })

  test("an insert whose answer is lost is not acknowledged; sent again it is there once", async () => {
    const project = opened.acme.newProject()
    const id = newId()
    expect((await complete(project, newId())).status).toBe(200)
    proxy.cutAfter(`insert+into+${callsTable}+`)
    const lost = await complete(project, id)
    expect([lost.status, lost.body]).toEqual([503, away])
    proxy.mend()
    await expect.poll(async () => (await complete(project, id)).status, soon).toBe(200)
    expect((await stored(project)).filter((one) => one === id)).toEqual([id])
    const stats = await opened.acme.post("/calls/query_stats", { project_id: project })
    expect(stats.body).toMatchObject({ count: 2 })
  })

  test("feedback without ids whose insert's answer is lost is there once when it is sent again; what is sent twice is there twice", async () => {
    const project = opened.acme.newProject()
    const note = { project_id: project, weave_ref: `weave:///${project}/call/one`, feedback_type: "wandb.note.1" }
    const items = ["first", "second"].map((text) => ({ ...note, payload: { note: text } }))
    const create = () => opened.acme.post("/feedback/batch/create", { batch: items })
    const notes = async () => {
      const found = await opened.acme.post("/feedback/query", { project_id: project })
      const { result } = found.body as { result?: { payload: { note: string } }[] }
      return result?.map(({ payload }) => payload.note)
    }
    expect((await complete(project, newId())).status).toBe(200)
    proxy.cutAfter("insert+into+feedback+")
    const lost = await create()
    expect([lost.status, lost.body]).toEqual([503, away])
    proxy.mend()
    await expect.poll(notes, soon).toEqual(["first", "second"])
    expect((await create()).status).toBe(200)
    expect(await notes()).toEqual(["first", "second"])
    expect((await create()).status).toBe(200)
    expect(await notes()).toEqual(["first", "second", "first", "second"])
  })

  describe("an answer in progress", () => {
    const calls = 60
    let address: string
    let project: string
    beforeAll(async () => {
      address = await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
      project = opened.acme.newProject()
      const output = "x".repeat(500_000)
      for (let from = 0; from < calls; from += 20) {
        const batch = Array.from({ length: 20 }, () => call(project, newId(), output))
        expect((await opened.acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
      }
    })

    /** Reads an answer; returns the number of whole lines, and `isWhole` when the answer ended properly. */
    async function read(path: string, cut: boolean): Promise<{ lines: number; isWhole: boolean }> {
      const answer = await fetch(address + path, {
        method: "POST",
        headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
        body: JSON.stringify({ project_id: project }),
      })
      expect(answer.status).toBe(200)
      let text = ""
      try {
        for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
          if (cut && text === "") proxy.cut()
          text += Buffer.from(bytes).toString("latin1")
        }
      } catch {
        return { lines: text.split("\n").length - 1, isWhole: false }
      }
      return { lines: text.split("\n").length - 1, isWhole: true }
    }

    test.each(["/calls/stream_query", "/export/calls"])("%s breaks off, and never looks whole", async (path) => {
      expect(await read(path, false)).toEqual({ lines: calls, isWhole: true })
      const broken = await read(path, true)
      expect(broken.isWhole).toBe(false)
      expect(broken.lines).toBeLessThan(calls)
    })
  })

  test("law 1: whatever was acknowledged while the network came and went is there, once", async () => {
    const project = opened.acme.newProject()
    const acknowledged: string[] = []
    let refused = 0
    const writers = Array.from({ length: 8 }, async () => {
      for (let round = 0; round < 12; round++) {
        const ids = [newId(), newId(), newId()]
        for (;;) {
          const { status } = await complete(project, ...ids)
          if (status === 200) break
          expect(status).toBe(503)
          refused += 1
          await sleep(30)
        }
        acknowledged.push(...ids)
      }
    })
    const all = Promise.all(writers)
    let isOver = false
    void all.finally(() => (isOver = true))
    for (let cuts = 0; cuts < 6 || !isOver; cuts++) {
      if (cuts < 6) proxy.cut()
      await sleep(60)
      proxy.mend()
      await sleep(120)
    }
    await all
    expect(refused).toBeGreaterThan(0)
    expect(acknowledged).toHaveLength(8 * 12 * 3)
    expect((await stored(project)).toSorted()).toEqual(acknowledged.toSorted())
    expect((await opened.acme.post("/calls/query_stats", { project_id: project })).body).toMatchObject({
      count: acknowledged.length,
    })
  })
})
