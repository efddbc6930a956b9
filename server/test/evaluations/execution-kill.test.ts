/**
 * Completions and images are recorded before the model is asked (calls 9); a server that is killed leaves no call
 * running.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { answering, callsOf, openExecutionApp, type StoredCall } from "../support/execution-app.ts"
import { call, endServer, newStores, type RunningServer, startServer } from "../support/server-process.ts"

const project = "local/killed"
const cutOff = "the server was stopped before this call ended; what the model answered is not known"

let dataDir: string
let stores: NodeJS.ProcessEnv
let provider: Server
/** Prompts and messages that the provider got. */
const asked: string[] = []
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-killed-"))
  stores = await newStores(dataDir)
  // The provider answers one question and never answers the others.
  provider = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { prompt, messages } = JSON.parse(Buffer.concat(parts).toString()) as {
        prompt?: string
        messages?: { content: string }[]
      }
      const question = prompt ?? messages?.[0]?.content ?? ""
      asked.push(question)
      if (question !== "quick") return
      const choices = [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }]
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices }))
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  provider.closeAllConnections()
  provider.close()
  await rm(dataDir, { recursive: true, force: true })
})

const start = () =>
  startServer(dataDir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_FETCH_ALLOW: "127.0.0.1", ...stores })

const stored = async (server: RunningServer) => {
  const { status, body } = await call(server, "POST", "/calls/query", { project_id: project })
  expect(status).toBe(200)
  return (body as { calls: StoredCall[] }).calls
}

test(
  "calls that the server was recording end at its next start, once, and no others",
  { timeout: 240_000 },
  async () => {
    let server = await start()
    const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    const runtime = await call(server, "PUT", `/v2/${project}/runtimes/slow`, { base_url, runtime_ids: [{ id: "m" }] })
    expect(runtime.status).toBe(200)
    const model = "custom::slow::m"
    const ask = (content: string) => ({ project_id: project, inputs: { model, messages: [{ role: "user", content }] } })
    expect((await call(server, "POST", "/completions/create", ask("quick"))).status).toBe(200)
    const id = "0198c5a0-0000-7000-8000-000000000001"
    const mine = { project_id: project, id, trace_id: id, op_name: "mine", started_at: "2026-01-01T00:00:00Z" }
    const begun = await call(server, "POST", "/call/start", { start: { ...mine, attributes: {}, inputs: {} } })
    expect(begun.status).toBe(200)
    const broken = [
      call(server, "POST", "/completions/create", ask("slow")),
      call(server, "POST", "/completions/create_stream", ask("slow stream")),
      call(server, "POST", "/image/create", { project_id: project, inputs: { model, prompt: "slow image" } }),
    ].map((one) => one.then(() => "answered").catch(() => "cut off"))
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(4)
    await endServer(server, "SIGKILL")
    await Promise.all(broken)

    server = await start()
    const calls = await stored(server)
    const ends = calls.map(({ inputs, exception, ended_at, output }) => {
      const { prompt, messages } = inputs as { prompt?: string; messages?: { content: string }[] }
      return [prompt ?? messages?.[0]?.content ?? "mine", exception, ended_at !== null, output === null]
    })
    expect(new Map(ends.map(([name, ...rest]) => [name, rest]))).toEqual(
      new Map<unknown, unknown>([
        ["quick", [null, true, false]],
        ["mine", [null, false, true]],
        ["slow", [cutOff, true, true]],
        ["slow stream", [cutOff, true, true]],
        ["slow image", [cutOff, true, true]],
      ]),
    )
    expect(calls.filter(({ exception }) => exception !== null).map(({ summary }) => summary)).toMatchObject(
      Array.from({ length: 3 }, () => ({ weave: { status: "error" } })),
    )

    await endServer(server, "SIGTERM")
    server = await start()
    expect(await stored(server)).toEqual(calls)
    await endServer(server, "SIGTERM")
  },
)

test("after a kill at any other moment, calls that had ended, were deleted or never began stay so", async () => {
  const opened = await openExecutionApp()
  try {
    const { acme } = opened
    opened.fake.handlers.chat = answering(() => "whole")
    const name = acme.newProject()
    const inputs = { model: "heddle/tiny", messages: [{ role: "user", content: "x" }] }
    for (let count = 0; count < 2; count++) {
      expect((await acme.post("/completions/create", { project_id: name, inputs })).status).toBe(200)
    }
    const { catalog } = opened.app.stores
    expect(await catalog.selectFrom("open_calls").selectAll().execute()).toEqual([])
    const [ended, deleted] = (await callsOf(acme, name)) as [StoredCall, StoredCall]
    await acme.post("/calls/delete", { project_id: name, call_ids: [deleted.id] })
    // Rows as two kills leave them: one after the call's end, before its row was removed; one before the call's start.
    const { id: project_id } = await catalog
      .selectFrom("projects")
      .select("id")
      .where("name", "=", name.split("/")[1] ?? "")
      .executeTakeFirstOrThrow()
    const ids = [ended.id, deleted.id, "0198c5a0-0000-7000-8000-000000000009"]
    await catalog
      .insertInto("open_calls")
      .values(ids.map((call_id) => ({ project_id, call_id })))
      .execute()
    await opened.restart()
    expect(await callsOf(acme, name)).toEqual([ended])
    expect(await opened.app.stores.catalog.selectFrom("open_calls").selectAll().execute()).toEqual([])
  } finally {
    await opened.close()
  }
})

test("a call that was refused leaves no open call behind", async () => {
  const opened = await openExecutionApp()
  try {
    const inputs = { model: "heddle/tiny", messages: [{ role: "user", content: "x" }] }
    const body = { project_id: opened.acme.newProject(), inputs, trace_id: "mine" }
    expect((await opened.acme.post("/completions/create", body)).status).toBe(400)
    expect(await opened.app.stores.catalog.selectFrom("open_calls").selectAll().execute()).toEqual([])
  } finally {
    await opened.close()
  }
})
