/** The protocol of `/mcp`: versions, keys, origins, the tools for each key, and requests that are no message. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { TestBrowser } from "../support/browser.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { listening, mcpCaller, scopedKey } from "../support/mcp-client.ts"

let opened: EvaluationApp
let base: string
beforeAll(async () => {
  opened = await openEvaluationApp({}, new FakeEngine())
  base = await listening(opened)
})
afterAll(() => opened.close())

const reading = [
  "compare_evaluations",
  "dry_run_training",
  "get_call",
  "get_trace",
  "job_status",
  "list_evaluations",
  "list_jobs",
  "list_models",
  "list_projects",
  "list_queues",
  "search_calls",
]
const labelling = ["add_feedback", "next_item", "submit_label"]
const training = ["cancel_job", "chat", "create_model", "evaluate_model", "start_training"]

const accept = "application/json, text/event-stream"
const send = (body: unknown, headers: Record<string, string> = {}, method = "POST") =>
  fetch(`${base}/mcp`, {
    method,
    headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json", accept, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  })
const ping = { jsonrpc: "2.0", id: 7, method: "ping" }

describe("versions", () => {
  test.each([
    ["a client of 2025", "legacy", "2025-11-25"],
    ["a client that asks what there is", "auto", "2026-07-28"],
    ["a client of 2026-07-28 alone", { pin: "2026-07-28" }, "2026-07-28"],
  ] as const)("given %s, it gets the newest version that both know", async (_, mode, version) => {
    const { client } = await mcpCaller(base, opened.acme.key, mode)
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(client.getServerVersion()).toMatchObject({ name: "heddle", title: "Heddle" })
    expect(client.getInstructions()).toContain("Find failures: search_calls")
    await client.close()
  })

  test("given an older version, it is spoken; given one that is not known, the newest of the handshake is offered", async () => {
    const initialize = (protocolVersion: string) =>
      send({
        ...ping,
        method: "initialize",
        params: { protocolVersion, capabilities: {}, clientInfo: { name: "old", version: "1" } },
      })
    const versionOf = async (answer: Response) =>
      ((await answer.json()) as { result: { protocolVersion: string } }).result.protocolVersion
    expect(await versionOf(await initialize("2025-03-26"))).toBe("2025-03-26")
    expect(await versionOf(await initialize("1999-01-01"))).toBe("2025-11-25")
  })

  test("without a session, any request is answered by itself, in JSON; a notification has no answer", async () => {
    const answer = await send(ping)
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
    expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: 7, result: {} })
    expect(answer.headers.get("mcp-session-id")).toBeNull()
    const notified = await send({ jsonrpc: "2.0", method: "notifications/initialized" })
    expect([notified.status, await notified.text()]).toEqual([202, ""])
  })
})

describe("keys", () => {
  test.each([
    ["read", reading],
    ["label", [...reading, ...labelling]],
    ["train", [...reading, ...labelling, ...training]],
    ["all", [...reading, ...labelling, ...training]],
    ["ingest", []],
  ])("given a key of the scope %s, it is offered what it may call", async (scope, names) => {
    const { client } = await mcpCaller(base, await scopedKey(opened.acme, scope))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual([...names].toSorted())
    await client.close()
  })

  test("every tool says what it takes and gives, and whether it changes anything", async () => {
    const { client } = await mcpCaller(base, opened.acme.key)
    const { tools } = await client.listTools()
    const changing = tools.flatMap(({ name, annotations }) => (annotations?.readOnlyHint === true ? [] : [name]))
    expect(changing.toSorted()).toEqual([...labelling, ...training].toSorted())
    for (const { name, description = "", inputSchema, outputSchema } of tools) {
      expect([name, description.length > 60 && description.length < 700]).toEqual([name, true])
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, "object", "object"])
    }
    // A model must read all of it before it does anything: this limit is about twelve thousand tokens.
    expect(JSON.stringify(tools).length).toBeLessThan(49_000)
  })

  test("given a tool of another scope, it refuses and says which scope reaches it", async () => {
    const reader = await mcpCaller(base, await scopedKey(opened.acme, "read"))
    expect(await reader.refusal("add_feedback", { project: "acme/p", call_id: "c", note: "n" })).toBe(
      "add_feedback: this key has the scope read, which does not reach this call; use a key of the scope all or label or train",
    )
    expect(await reader.refusal("cancel_job", { job_id: "j" })).toBe(
      "cancel_job: this key has the scope read, which does not reach this call; use a key of the scope all or train",
    )
  })

  test("without a key, with an unknown one, and with the cookie of a browser, nothing is answered", async () => {
    const unknown = await send(ping, { authorization: `Bearer ${"u".repeat(48)}` })
    expect(unknown.status).toBe(401)
    expect(await unknown.json()).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: {
        code: -32000,
        message:
          "this API key is not known here, has ended or was revoked; use the key that the server printed at its first start, " +
          "or one that an administrator made for you",
        data: { code: "invalid_api_key" },
      },
    })
    await expect(mcpCaller(base, "u".repeat(48))).rejects.toThrow(/not known here|401|Unauthorized/)
    const browser = new TestBrowser(opened)
    expect((await browser.signIn(opened.acme.key)).status).toBe(200)
    expect(await browser.page("POST", "/mcp", ping)).toMatchObject({
      status: 403,
      body: { error: { message: "/mcp needs a key: 'Authorization: Bearer <key>'" } },
    })
    expect((await opened.app.server.inject({ method: "POST", url: "/mcp", payload: ping })).statusCode).toBe(401)
  })

  test("each tool's requests count as the key's", async () => {
    const { status, body } = await opened.admin.post("/v1/organization/users", { username: "slow" })
    expect([status, body]).toEqual([200, body])
    const made = await opened.admin.post("/v1/organization/api_keys", { name: "slow", username: "slow" })
    const quota = await opened.admin.post("/v1/organization/teams/slow/quotas", { requests_per_minute: 4 })
    expect(quota.status).toBe(200)
    const { value } = made.body as { value: string }
    const answers: string[] = []
    for (let count = 0; count < 4; count += 1) {
      const call = { ...ping, method: "tools/call", params: { name: "list_projects", arguments: {} } }
      answers.push(await (await send(call, { authorization: `Bearer ${value}` })).text())
    }
    expect(answers.filter((text) => text.includes("may make 4 requests a minute"))).not.toEqual([])
    expect(answers[0]).toContain('"projects":[]')
  })
})

describe("origins", () => {
  test("a page of another origin is refused, the server's own is not", async () => {
    const foreign = await send(ping, { origin: "https://evil.example" })
    expect(foreign.status).toBe(403)
    expect(((await foreign.json()) as { error: { message: string } }).error.message).toContain(
      "/mcp takes no requests of pages of another origin (origin https://evil.example, host 127.0.0.1:",
    )
    for (const origin of ["null", "http://127.0.0.1:1"]) {
      expect([origin, (await send(ping, { origin })).status]).toEqual([origin, 403])
    }
    expect((await send(ping, { origin: base })).status).toBe(200)
  })
})

describe("requests that are no message", () => {
  test.each([["GET"], ["DELETE"], ["PUT"]])(
    "%s is answered 405, as there are no sessions and no streams",
    async (method) => {
      const answer = await send(undefined, {}, method)
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"])
    },
  )

  test.each([
    ["text that is no JSON", "{", 400, -32700],
    ["a list of messages", [ping], 422, -32600],
    ["an object that is no message", { id: 1 }, 422, -32600],
    ["a stream of changes, which has no end", { ...ping, method: "subscriptions/listen" }, 404, -32601],
    ["a body larger than any message", { ...ping, params: { text: "x".repeat(33_000_000) } }, 413, -32000],
  ])("%s is refused", async (_, body, status, code) => {
    const answer = await send(body)
    expect([answer.status, ((await answer.json()) as { error: { code: number } }).error.code]).toEqual([status, code])
  })

  test("a method that is not known, and a tool that is not there, are errors of the protocol", async () => {
    const answer = await send({ ...ping, method: "nothing/such" })
    expect(await answer.json()).toMatchObject({ id: 7, error: { code: -32601 } })
    const { client } = await mcpCaller(base, opened.acme.key)
    await expect(client.callTool({ name: "drop_everything", arguments: {} })).rejects.toThrow(
      'there is no tool "drop_everything"; there are list_projects, search_calls,',
    )
  })

  test("a client that takes no JSON is told so", async () => {
    expect((await send(ping, { accept: "text/html" })).status).toBe(406)
  })
})

describe("guides", () => {
  test("they are resources, and read as they are served", async () => {
    const { client } = await mcpCaller(base, opened.acme.key)
    const { resources } = await client.listResources()
    const labels = resources.find(({ uri }) => uri === "heddle://docs/guide/labelling.md")
    expect(labels).toMatchObject({
      title: "Labelling",
      description: "annotation queues, who gets which item, agreement, disputes.",
    })
    const { contents } = await client.readResource({ uri: "heddle://docs/guide/labelling.md" })
    const served = await (await fetch(`${base}/docs/guide/labelling.md`)).text()
    expect(contents).toMatchObject([{ mimeType: "text/markdown", text: served }])
    expect(served).toContain("# Labelling\n")
    await expect(client.readResource({ uri: "heddle://docs/../package.json" })).rejects.toThrow(
      'there is no resource "heddle://docs/../package.json"',
    )
  })

  test("/llms.txt has the form of llmstxt.org, and each of its links leads to a page", async () => {
    const answer = await fetch(`${base}/llms.txt`)
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
    const text = await answer.text()
    expect(text).toMatch(/^# Heddle\n\n> One server that/)
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name)).toEqual(["API", "Guides", "Optional"])
    const items = text.split("\n").filter((line) => line.startsWith("- "))
    const links = items.map((line) => {
      const [, link = "", words] = /^- \[[^\]]+\]\(([^)]+)\)(?:: (\S.*\.))?$/.exec(line) ?? []
      // Links to reference pages need no description beside the title.
      expect([line, words !== undefined || link.startsWith("docs/reference/")]).toEqual([line, true])
      return link
    })
    expect(links).toEqual(
      expect.arrayContaining(["openapi.json", "docs/guide/labelling.md", "docs/reference/access.md"]),
    )
    for (const link of links)
      expect([link, (await fetch(new URL(link, `${base}/llms.txt`))).status]).toEqual([link, 200])
  })
})
