/** The line that each request leaves in the log. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { launchServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"

type Line = Record<string, unknown>

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-request-log-"))
  await copyCatalogTemplate(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

/** Starts a server and sends it requests; returns its whole log, and the request ids of the answers. */
async function logOf(env: NodeJS.ProcessEnv): Promise<{ text: string; requests: Line[]; ids: (string | null)[] }> {
  const { child, url, lines } = launchServer(dataDir, { HEDDLE_ENGINE: "none", ...env })
  const ended = once(child, "close")
  try {
    const base = await url
    const ask = async (address: string, init?: RequestInit) => {
      const answer = await fetch(base + address, init)
      await answer.arrayBuffer()
      return answer.headers.get("x-request-id")
    }
    const authorization = `Bearer ${adminKey}`
    const ids = [
      await ask("/v1/organization/me", { headers: { authorization } }),
      await ask("/v1/models/secret-model?key=in-the-query", { headers: { authorization: "Bearer no-such-key" } }),
      await ask("/no/such/path"),
      await ask("/obj/create", {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: '{"obj": "payload-of-a-client"}',
      }),
    ]
    // The log is complete once the server has ended.
    child.kill("SIGTERM")
    await ended
    const text = lines.join("\n")
    const logged = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line)
    return { text, requests: logged.filter(({ msg }) => msg === "request"), ids }
  } finally {
    child.kill("SIGKILL")
  }
}

test("each request leaves a line that names it, and nothing that its client sent", { timeout: 300_000 }, async () => {
  const { text, requests, ids } = await logOf({ HEDDLE_LOG: "debug" })
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)
  const common = { level: 20, ms: expect.any(Number), bytes: expect.any(Number) }
  expect(requests).toMatchObject([
    { ...common, request_id: ids[0], method: "GET", route: "/v1/organization/me", status: 200, user_id: uuid },
    { ...common, request_id: ids[1], method: "GET", route: "/v1/models/*", status: 401, user_id: null },
    { ...common, request_id: ids[2], method: "GET", route: null, status: 404, user_id: null },
    { ...common, request_id: ids[3], method: "POST", route: "/obj/create", status: 422, user_id: uuid },
  ])
  expect(requests.every(({ bytes }) => Number(bytes) > 100)).toBe(true)
  for (const sent of [adminKey, "no-such-key", "secret-model", "in-the-query", "payload-of-a-client"]) {
    expect(text).not.toContain(sent)
  }
})

test("at level info there is no such line", { timeout: 300_000 }, async () => {
  expect((await logOf({ HEDDLE_LOG: "info" })).requests).toEqual([])
})

test("with HEDDLE_REQUEST_LOG the lines come at level info", { timeout: 300_000 }, async () => {
  const { requests } = await logOf({ HEDDLE_LOG: "info", HEDDLE_REQUEST_LOG: "on" })
  expect(requests.map(({ level, status }) => [level, status])).toEqual([
    [30, 200],
    [30, 401],
    [30, 404],
    [30, 422],
  ])
})
