/** Laws 1, 2 and 7 for scoring rules: after SIGKILL, rules score every acknowledged call, and none twice. */
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { randomUUIDv7 } from "node:crypto"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { call, endServer, newStores, type RunningServer, startServer } from "../support/server-process.ts"

const project = "local/scored"
/** Number of kills; more with `HEDDLE_SLOW_TESTS=1`. */
const rounds = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 2 : 12
const callsOfRound = 40

let dataDir: string
let stores: NodeJS.ProcessEnv
let judge: Server
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-scored-"))
  stores = await newStores(dataDir)
  judge = createServer((request, response) => {
    request.resume().on("end", () => {
      const message = { role: "assistant", content: '{"score": 1}' }
      const choices = [{ index: 0, message, finish_reason: "stop" }]
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices }))
    })
  })
  await new Promise<void>((resolve) => judge.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  judge.closeAllConnections()
  judge.close()
  await rm(dataDir, { recursive: true, force: true })
})

const start = () =>
  startServer(dataDir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_FETCH_ALLOW: "127.0.0.1", ...stores })

async function send(server: RunningServer, method: "GET" | "POST" | "PUT", url: string, body?: object) {
  const answer = await call(server, method, url, body)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body
}

interface Rule {
  id: string
  counters: Record<string, number>
}

const rulesOf = async (server: RunningServer) =>
  ((await send(server, "POST", "/scoring_rules/query", { project_id: project })) as { rules: Rule[] }).rules

/** Stores calls, one request after the other, until the server is killed; returns the ids of acknowledged ones. */
async function storeUntilKilled(server: RunningServer): Promise<string[]> {
  const stored: string[] = []
  for (let count = 0; count < callsOfRound; count++) {
    const id = randomUUIDv7()
    const one = {
      project_id: project,
      id,
      trace_id: id,
      op_name: "op",
      started_at: "2026-01-02T03:04:05Z",
      ended_at: "2026-01-02T03:04:06Z",
      attributes: {},
      inputs: {},
      output: "four",
      summary: {},
    }
    await send(server, "POST", `/v2/${project}/calls/complete`, { batch: [one] })
    stored.push(id)
  }
  await endServer(server, "SIGKILL")
  return stored
}

test(
  "every acknowledged call is scored once by each rule, however often the server is killed",
  { timeout: 240_000 },
  async () => {
    let server = await start()
    const base_url = `http://127.0.0.1:${(judge.address() as AddressInfo).port}/v1`
    await send(server, "PUT", `/v2/${project}/runtimes/outside`, { base_url, runtime_ids: [{ id: "m" }] })
    const make = (name: string, scorer: object) =>
      send(server, "POST", "/scoring_rules", { project_id: project, name, scorer })
    await make("length", { kind: "length" })
    await make("judged", { kind: "judge", model: "custom::outside::m", prompt: "{output}" })
    const stored: string[] = []
    for (let round = 0; round < rounds; round++) {
      stored.push(...(await storeUntilKilled(server)))
      server = await start()
    }
    const all = rounds * callsOfRound
    const expected = { seen: all, matched: all, sampled: all, scored: all, failed: 0, waiting: 0 }
    await expect
      .poll(async () => (await rulesOf(server)).map(({ counters }) => counters), { timeout: 120_000, interval: 200 })
      .toEqual([expect.objectContaining(expected), expect.objectContaining(expected)])
    const { result } = (await send(server, "POST", "/feedback/query", { project_id: project })) as {
      result: { feedback_type: string; weave_ref: string; payload: { output: unknown } }[]
    }
    const scored = (type: string) =>
      result
        .filter(({ feedback_type }) => feedback_type === type)
        .map(({ weave_ref }) => weave_ref.split("/").at(-1) ?? "")
    expect(scored("wandb.runnable.length").toSorted()).toEqual(stored.toSorted())
    expect(scored("wandb.runnable.judged").toSorted()).toEqual(stored.toSorted())
    expect(
      result.every(({ payload }) => JSON.stringify(payload.output) === '{"score":1}' || payload.output === 4),
    ).toBe(true)
    await endServer(server, "SIGTERM")
  },
)
