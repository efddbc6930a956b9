/** Models of other services: runtimes, providers, their keys (evaluation-store-calls 9, security 5.2). */
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { loadProviderSecrets } from "../../src/gateway/providers/provider-secrets.ts"
import { runtime } from "../../src/wire/evaluations/runtime.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { evaluation, judge, publish, publishDataset, structuredModel } from "../support/judges.ts"

interface Asked {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A key with characters that JSON, addresses and Base64 write in another way. */
const longKey = "sk-proj-Zk3/9+aQ7vB2mX8nL5tR1cW6"

let folder: string
let provider: Server
let base: string
let asked: Asked[]
let answer: (response: ServerResponse, request: Asked) => void
let opened: ExecutionApp
let acme: EvaluationCaller

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-test-"))
  provider = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const one = { url: request.url ?? "", headers: request.headers, body: Buffer.concat(parts).toString() }
      asked.push(one)
      answer(response, one)
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve))
  base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const secrets = {
    AGENT_KEY: { value: "sk-agent-1", origins: [base] },
    NO_KEY: { value: "EMPTY", origins: [base] },
    LONG_KEY: { value: longKey, origins: [base] },
    ELSEWHERE_KEY: { value: "sk-elsewhere", origins: ["https://api.example.com"] },
    RIVAL_KEY: { value: "sk-rival", origins: [base], entities: ["rival"] },
  }
  const secretsFile = path.join(folder, "secrets.json")
  await writeFile(secretsFile, JSON.stringify(secrets), { mode: 0o600 })
  opened = await openExecutionApp({ fetchAllow: ["127.0.0.1"], secretsFile })
  acme = opened.acme
})
beforeEach(() => {
  asked = []
  answer = (response) => json(response, 200, completion)
})
afterAll(async () => {
  await opened.close()
  provider.close()
  await rm(folder, { recursive: true, force: true })
})

const json = (response: ServerResponse, status: number, body: object | string) =>
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(typeof body === "string" ? body : JSON.stringify(body))

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const completion = {
  id: "c-1",
  object: "chat.completion",
  created: 1,
  model: "support-v12",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage,
}

const apply = (project: string, name: string, body: object = {}) =>
  acme.put(`/v2/${project}/runtimes/${encodeURIComponent(name)}`, {
    base_url: `${base}/v1/`,
    runtime_ids: [{ id: "support-v12", max_tokens: 8192 }],
    ...body,
  })

const applied = async (project: string, name: string, body: object = {}) => {
  const { status, body: made, text } = await apply(project, name, body)
  expect([status, text]).toEqual([200, text])
  return runtime.parse(made)
}

const ask = (project_id: string, model: string, more: object = {}) =>
  acme.post("/completions/create", {
    project_id,
    inputs: { model, messages: [{ role: "user", content: "hi" }], ...more },
  })

const reasonOf = (body: unknown) => (body as { reason: string }).reason

const latest = async (project_id: string, object_id: string) => {
  const { status, body } = await acme.post("/obj/read", { project_id, object_id, digest: "latest" })
  return status === 200
    ? (body as { obj: { digest: string; base_object_class: string; val: Record<string, unknown> } }).obj
    : null
}

describe("calls 9: runtimes", () => {
  test("applying makes a Provider and a ProviderModel; the same again makes no versions", async () => {
    const project = acme.newProject()
    const request = { api_key_secret: "AGENT_KEY", headers: { "X-Tenant": "customer-1" } }
    const made = await applied(project, "support-agent", request)
    expect(made).toEqual({
      name: "support-agent",
      base_url: `${base}/v1/`,
      api_key_secret: "AGENT_KEY",
      headers: { "X-Tenant": "customer-1" },
      runtime_ids: [{ id: "support-v12", max_tokens: 8192, playground_id: "custom::support-agent::support-v12" }],
    })
    const stored = await latest(project, "support-agent")
    expect(stored).toMatchObject({
      base_object_class: "Provider",
      val: {
        name: "support-agent",
        api_key_name: "AGENT_KEY",
        extra_headers: { "X-Tenant": "customer-1" },
        return_type: "openai",
      },
    })
    expect(await latest(project, "support-agent-support-v12")).toMatchObject({
      base_object_class: "ProviderModel",
      val: { name: "support-v12", max_tokens: 8192, provider: stored?.digest },
    })
    expect(await applied(project, "support-agent", request)).toEqual(made)
    const { body } = await acme.post("/objs/query", { project_id: project })
    expect((body as { objs: unknown[] }).objs).toHaveLength(2)
  })

  test("the list of ids is the whole list: those left out go, also after the address has changed", async () => {
    const project = acme.newProject()
    await applied(project, "agent", { runtime_ids: [{ id: "old" }, { id: "kept", max_tokens: 2048 }] })
    const made = await applied(project, "agent", {
      base_url: `${base}/v2`,
      runtime_ids: [{ id: "kept" }, { id: "new" }],
    })
    expect(made.runtime_ids.map(({ id, max_tokens }) => [id, max_tokens])).toEqual([
      ["kept", 4096],
      ["new", 4096],
    ])
    expect(await latest(project, "agent-old")).toBeNull()
    expect((await latest(project, "agent-kept"))?.val["provider"]).toBe((await latest(project, "agent"))?.digest)
    expect((await applied(project, "agent", { runtime_ids: [] })).runtime_ids).toEqual([])
    expect(await latest(project, "agent-kept")).toBeNull()
  })

  test("bad names and addresses are refused before anything is written", async () => {
    const project = acme.newProject()
    const cases: [string, object, number, string][] = [
      ["a::b", {}, 422, "runtime_name"],
      ["a".repeat(129), {}, 422, "runtime_name"],
      ["r", { runtime_ids: [{ id: "" }] }, 422, "runtime_ids"],
      ["r", { runtime_ids: [{ id: "x" }, { id: "x" }] }, 422, "twice"],
      ["r".repeat(64), { runtime_ids: [{ id: "i".repeat(64) }] }, 422, "127"],
      ["r", { runtime_ids: [{ id: "m/a" }, { id: "m:a" }] }, 400, "m:a"],
      ["r", { base_url: "ftp://example.com" }, 400, "ftp://example.com"],
      ["r", { base_url: "http://10.0.0.1/v1" }, 400, "HEDDLE_FETCH_ALLOW"],
      ["r", { base_url: "http://[::ffff:169.254.169.254]/v1" }, 400, "not a public address"],
      ["r", { base_url: "https://me:secret@example.com" }, 400, "api_key_secret"],
      ["r", { headers: { "Metadata-Flavor": "Google" } }, 400, "Metadata-Flavor"],
      ["r", { headers: { host: "elsewhere" } }, 400, "host"],
      ["r", { headers: { "x-a": "b\r\nc: d" } }, 400, "x-a"],
    ]
    for (const [name, body, status, text] of cases) {
      const refused = await apply(project, name, body)
      expect([name, body, refused.status, refused.text]).toEqual([name, body, status, expect.stringContaining(text)])
    }
    expect((await acme.post("/objs/query", { project_id: project })).status).toBe(403)
  })

  test("a name that equals another provider's or model's, once its characters are replaced, is refused", async () => {
    const project = acme.newProject()
    await applied(project, "support/agent", { runtime_ids: [] })
    expect((await apply(project, "support:agent")).status).toBe(400)
    await applied(project, "a-b", { runtime_ids: [{ id: "c" }] })
    const refused = await apply(project, "a", { runtime_ids: [{ id: "b-c" }] })
    expect([refused.status, reasonOf(refused.body)]).toEqual([400, expect.stringContaining("a-b-c")])
    expect(await latest(project, "a")).toBeNull()
  })

  test("the names of the team's keys are listed with where they may be sent, never a key", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const { status, body, text } = await acme.get(`/v2/${project}/provider_keys`)
    expect([status, body]).toEqual([
      200,
      {
        keys: [
          { name: "AGENT_KEY", origins: [base] },
          { name: "ELSEWHERE_KEY", origins: ["https://api.example.com"] },
          { name: "LONG_KEY", origins: [base] },
          { name: "NO_KEY", origins: [base] },
        ],
      },
    ])
    expect(text).not.toMatch(/sk-|EMPTY/)
    expect((await opened.rival.get(`/v2/${project}/provider_keys`)).status).toBe(403)
  })

  test("another team cannot apply to it, and does not see it", async () => {
    const project = acme.newProject()
    await applied(project, "mine")
    const url = `/v2/${project}/runtimes/mine`
    expect((await opened.rival.put(url, { base_url: base, runtime_ids: [] })).status).toBe(403)
    expect(await latest(project, "mine-support-v12")).not.toBeNull()
  })
})

describe("calls 9: completions of a custom provider", () => {
  test("the request goes to the endpoint with the key and headers, and its answer comes back", async () => {
    const project = acme.newProject()
    await applied(project, "agent", { api_key_secret: "AGENT_KEY", headers: { "X-Tenant": "t-1" } })
    answer = (response) =>
      json(response, 200, JSON.stringify(completion).replace('"created":1', '"created":12345678901234567890'))
    const model = "custom::agent::support-v12"
    const { status, text, body } = await ask(project, model, {
      temperature: 0.5,
      extra_headers: { host: "x" },
      stop: null,
    })
    expect([status, text]).toEqual([200, expect.stringContaining('"created":12345678901234567890')])
    const [one, ...more] = asked
    expect(more).toEqual([])
    expect([one?.url, one?.headers["authorization"], one?.headers["x-tenant"]]).toEqual([
      "/v1/chat/completions",
      "Bearer sk-agent-1",
      "t-1",
    ])
    expect(JSON.parse(one?.body ?? "")).toEqual({
      model: "support-v12",
      messages: [{ role: "user", content: "hi" }],
      temperature: 0.5,
    })
    const [call] = await callsOf(acme, project)
    expect(call).toMatchObject({
      id: (body as { weave_call_id: string }).weave_call_id,
      inputs: { model },
      output: { choices: completion.choices },
      summary: { usage: { "agent/support-v12": usage } },
    })
    const stored = await acme.post("/calls/stream_query", { project_id: project })
    expect(stored.text).not.toContain("sk-agent-1")
  })

  test("a stream: its chunks as they came, each with a choice, the answer collected", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const chunk = (more: object) => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      ...more,
    })
    const delta = (index: number, of: object) => chunk({ choices: [{ index, delta: of, finish_reason: null }] })
    const call = (index: number, of: object) => delta(0, { tool_calls: [{ index, ...of }] })
    const chunks = [
      delta(0, { role: "assistant", content: "he" }),
      delta(1, { content: "other" }),
      delta(0, { content: "llo", reasoning_content: "hm" }),
      call(0, { id: "t1", type: "function", function: { name: "look", arguments: '{"a"' } }),
      call(1, { id: "t2", function: { name: "see", arguments: "{}" } }),
      call(0, { function: { arguments: ":1}" } }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
      chunk({ usage }),
    ]
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const text = `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}: comment\n\ndata: [DONE]\n\n`
      response.write(text.slice(0, 100))
      setTimeout(() => response.end(text.slice(100)), 20)
    }
    const inputs = { model: "custom::agent::support-v12", messages: [{ role: "user", content: "hi" }] }
    const [, ...lines] = await acme.lines("/completions/create_stream", { project_id: project, inputs })
    const empty = { index: 0, delta: {}, finish_reason: null }
    expect(lines).toEqual([...chunks.slice(0, -1), chunk({ usage, choices: [empty] })])
    expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    const [stored] = await callsOf(acme, project)
    expect(stored).toMatchObject({ exception: null, summary: { usage: { "agent/support-v12": usage } } })
    expect(stored?.output).toHaveProperty("choices", [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "hello",
          reasoning_content: "hm",
          tool_calls: [
            { id: "t1", type: "function", function: { name: "look", arguments: '{"a":1}' } },
            { id: "t2", type: "function", function: { name: "see", arguments: "{}" } },
          ],
        },
        finish_reason: "tool_calls",
      },
      { index: 1, message: { role: "assistant", content: "other" }, finish_reason: null },
    ])
  })

  test("security 5.2: a key goes to its own origins and to its own team only, and others cannot be told from unknown ones", async () => {
    const project = acme.newProject()
    for (const name of ["ELSEWHERE_KEY", "RIVAL_KEY", "UNKNOWN_KEY"]) {
      await applied(project, "agent", { api_key_secret: name })
      const { status, body } = await ask(project, "custom::agent::support-v12")
      const reason =
        `there is no API key ${name} that the team acme may send to ${base}; ` +
        "the operator lists keys with their teams and origins in the file that HEDDLE_SECRETS names"
      expect([status, body]).toEqual([400, { reason, error_type: "MissingLLMApiKeyError", api_key: name }])
    }
    expect(asked).toEqual([])
  })

  const base64 = (text: string) => Buffer.from(text).toString("base64")
  const inJson = JSON.stringify({ key: longKey })
  /** Each form in which an endpoint may repeat the key, with its text and the text that is shown instead. */
  const forms: [string, string, string][] = [
    ["as it is", longKey, "<key>"],
    ["in an address", `https://x/?k=${encodeURIComponent(longKey)}&a=1`, "https://x/?k=<key>&a=1"],
    ["inside JSON", inJson.replaceAll("/", "\\/").replaceAll("+", "\\u002B"), '{"key":"<key>"}'],
    ["in Base64", base64(longKey), "<key>="],
    ["in Base64 for addresses", Buffer.from(longKey).toString("base64url"), "<key>"],
    ["in Base64 behind a scheme", base64(`Bearer ${longKey}`), "QmVhcmVyIH<key>"],
    ["in Base64 behind a user", base64(`api:${longKey}`), "YXBpOn<key>"],
    ["shortened as OpenAI does", `sk-proj-${"*".repeat(20)}R1cW6`, "<key>"],
    ["with its beginning", "sk-proj-Zk3/…", "<key>"],
    ["with its beginning and end", "sk-pr...cW6", "<key>"],
    ["with its end", "****R1cW6", "<key>"],
    ["cut", longKey.slice(0, 20), "<key>"],
  ]
  test.each(forms)(
    "security 5.2: a key that an endpoint repeats %s is shown to nobody and stored nowhere",
    async (_, said, shown) => {
      const project = acme.newProject()
      await applied(project, "agent", { api_key_secret: "LONG_KEY" })
      const model = "custom::agent::support-v12"
      const secret = /Zk3|R1cW6|B2mX8n|a1aazMv|pLM/

      answer = (response) => json(response, 401, { error: { message: `Incorrect API key ${said}. End` } })
      const refused = await ask(project, model)
      expect((refused.body as { response: { error: string } }).response.error).toContain(
        `Incorrect API key ${shown}. End`,
      )

      const content = `you sent ${said}. End`
      answer = (response) =>
        json(response, 200, { ...completion, choices: [{ index: 0, message: { role: "assistant", content } }] })
      const told = await ask(project, model)
      expect(told.body).toMatchObject({ response: { choices: [{ message: { content: `you sent ${shown}. End` } }] } })

      answer = (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const chunk = {
          id: "c",
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta: { role: "assistant", content } }],
        }
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
      }
      const inputs = { model, messages: [{ role: "user", content: "hi" }] }
      const [, line] = await acme.lines("/completions/create_stream", { project_id: project, inputs })
      expect(line).toMatchObject({ choices: [{ delta: { content: `you sent ${shown}. End` } }] })

      const calls = await callsOf(acme, project)
      expect(calls).toHaveLength(3)
      expect(JSON.stringify([refused.body, told.body, line, calls])).not.toMatch(secret)
    },
  )

  test("words that only look like parts of a key, and short ones that are no secret, stay as they are", async () => {
    const project = acme.newProject()
    const content = "**bold** ... and *** sk-proj- or sk-ant-123; EMPTY, R1cW6"
    answer = (response) =>
      json(response, 200, { ...completion, choices: [{ index: 0, message: { role: "assistant", content } }] })
    for (const api_key_secret of ["LONG_KEY", "NO_KEY"]) {
      await applied(project, "agent", { api_key_secret })
      const told = await ask(project, "custom::agent::support-v12")
      expect(told.body).toMatchObject({ response: { choices: [{ message: { content } }] } })
    }
  })

  test("security 5.2: a redirect is not followed", async () => {
    const project = acme.newProject()
    await applied(project, "agent", { api_key_secret: "AGENT_KEY" })
    answer = (response) => response.writeHead(302, { location: `${base}/elsewhere` }).end()
    const { status, body } = await ask(project, "custom::agent::support-v12")
    expect([status, (body as { response: object }).response]).toEqual([200, { error: expect.stringContaining("302") }])
    expect(asked).toHaveLength(1)
  })

  test("a fault of the endpoint becomes the response's error and the call's exception, without the key", async () => {
    const project = acme.newProject()
    await applied(project, "agent", { api_key_secret: "AGENT_KEY" })
    const wrong: [(response: ServerResponse) => void, string][] = [
      [
        (response) => json(response, 401, { error: { message: "Incorrect API key sk-agent-1" } }),
        "Incorrect API key <key>",
      ],
      [(response) => json(response, 200, { error: "no quota" }), "no quota"],
      [(response) => json(response, 500, "<html>"), "answered 500"],
      [(response) => json(response, 200, "not JSON"), "JSON"],
      [(response) => response.destroy(), "broke off"],
    ]
    for (const [how, text] of wrong) {
      answer = how
      const { status, body } = await ask(project, "custom::agent::support-v12")
      const { error } = (body as { response: { error: string } }).response
      expect([status, error]).toEqual([200, expect.stringContaining(text)])
      expect(error).not.toContain("sk-agent-1")
    }
    const calls = await callsOf(acme, project)
    expect(calls.map(({ exception }) => exception)).toEqual(Array.from(wrong, () => expect.any(String)))
  })

  test("a busy provider: a client gets its answer, and work in the background waits", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const model = "custom::agent::support-v12"
    const busy = (response: ServerResponse) =>
      response.writeHead(429, { "retry-after": "0" }).end('{"error":{"message":"slow down"}}')
    answer = busy
    const told = await ask(project, model)
    expect((told.body as { response: object }).response).toEqual({ error: expect.stringContaining("slow down") })
    expect(asked).toHaveLength(1)

    const [call] = await callsOf(acme, project)
    const judging = judge("Good?", { model: structuredModel({ response_format: "json_object" }, model) })
    const scorer = await publish(acme, project, "judge", judging)
    asked = []
    answer = (response) => {
      if (asked.length < 3) busy(response)
      else json(response, 200, { choices: [{ index: 0, message: { content: '{"good": true}' } }] })
    }
    await acme.post("/calls/score", { project_id: project, call_ids: [call?.id], scorer_refs: [scorer] })
    const feedback = async () => {
      const { body } = await acme.post("/feedback/query", { project_id: project })
      return (body as { result: { payload: object }[] }).result.map(({ payload }) => payload)
    }
    await expect.poll(feedback, { timeout: 10_000 }).toEqual([{ output: { good: true } }])
    expect(asked).toHaveLength(3)
  })

  test("law 8: work in the background asks eight questions at a time, however many scorers there are", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const model = structuredModel({ response_format: "json_object" }, "custom::agent::support-v12")
    const scorers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => publish(acme, project, `judge-${n}`, judge("Good?", { model }))),
    )
    const dataset = await publishDataset(
      acme,
      project,
      Array.from({ length: 8 }, (_, n) => ({ user_input: `q${n}` })),
    )
    let [running, most] = [0, 0]
    answer = (response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running -= 1
        json(response, 200, { choices: [{ index: 0, message: { content: '{"good": true}' } }] })
      }, 200)
    }
    const started = await acme.post("/evaluations/evaluate_model", {
      project_id: project,
      model_ref: await publish(acme, project, "model", model),
      evaluation_ref: await publish(acme, project, "evaluation", evaluation(dataset, scorers)),
    })
    const { call_id } = started.body as { call_id: string }
    const status = async () => (await acme.post("/evaluations/status", { project_id: project, call_id })).body
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({ status: { code: "complete" } })
    expect([asked.length, most]).toEqual([8 + 8 * 6, 8])
  })

  test("a provider that does not end in time, or ends too late to be recorded, is an error that says so", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const model = "custom::agent::support-v12"
    const inputs = { model, messages: [{ role: "user", content: "hi" }], timeout: 0.4 }
    const chunk = { choices: [{ index: 0, delta: { content: "x" } }] }
    const dripping = (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const timer = setInterval(() => response.write(`data: ${JSON.stringify(chunk)}\n\n`), 20)
      response.once("close", () => clearInterval(timer))
    }
    const mebibyte = JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(2 ** 20) } }] })
    const flooding = (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${mebibyte}\n\n`.repeat(40))
    }
    for (const [how, timeout, text] of [
      [() => undefined, 0.4, "did not answer within 0.4 s"],
      [dripping, 0.4, "did not answer within 0.4 s"],
      [flooding, 60, "more than 33554432 bytes"],
    ] as const) {
      answer = how
      const lines = await acme.lines("/completions/create_stream", {
        project_id: project,
        inputs: { ...inputs, timeout },
      })
      expect(lines.at(-1)).toEqual({ code: "model_failed", error: expect.stringContaining(text) })
    }
    answer = dripping
    const whole = await ask(project, model, { timeout: 0.4 })
    expect((whole.body as { response: object }).response).toEqual({ error: expect.stringContaining("within 0.4 s") })
    const calls = await callsOf(acme, project)
    expect(calls.map(({ exception }) => exception)).toEqual([1, 2, 3, 4].map(() => expect.any(String)))
  }, 60_000)

  test("a key that an error quotes is not shown in part where the error is cut", async () => {
    const project = acme.newProject()
    await applied(project, "agent", { api_key_secret: "AGENT_KEY" })
    answer = (response) => json(response, 401, { error: { message: `${"x".repeat(495)}sk-agent-1` } })
    const { text } = await ask(project, "custom::agent::support-v12")
    expect(text).not.toContain("sk-ag")
  })

  test("providers published by hand may hold anything: 400, or what they hold as text", async () => {
    const project = acme.newProject()
    const make = async (object_id: string, class_name: string, fields: string) => {
      const val = `{"_type":"${class_name}","_class_name":"${class_name}","_bases":["Object","BaseModel"],${fields}}`
      const made = await acme.post(
        "/obj/create",
        `{"obj":{"project_id":"${project}","object_id":"${object_id}","val":${val}}}`,
      )
      return `weave:///${project}/object/${object_id}:${(made.body as { digest: string }).digest}`
    }
    const good = await make("good", "Provider", `"base_url":"${base}","extra_headers":{"x-version":1.0}`)
    await make("a-m", "ProviderModel", `"name":"m","provider":"${good}"`)
    expect((await ask(project, "custom::a::m")).status).toBe(200)
    expect(asked[0]?.headers["x-version"]).toBe("1.0")
    const bad = await make("bad", "Provider", '"base_url":1.0')
    for (const fields of [`"name":"m","provider":"${bad}"`, '"name":"m","provider":1.0', '"name":1.0,"provider":1.0']) {
      await make("a-m", "ProviderModel", fields)
      expect([fields, (await ask(project, "custom::a::m")).status]).toEqual([fields, expect.toBeOneOf([400, 404])])
    }
  })

  test("an unusual JSON answer comes back and is recorded, or is reported as a failure", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    const odd = [
      String.raw`{"choices":[],"text":"\u0000 \ud800"}`,
      `{"choices":[],"usage":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      `{"choices":[],"usage":7,"usage":{"prompt_tokens":1e400}}`,
    ]
    for (const one of odd) {
      answer = (response) => json(response, 200, one)
      const { status, text } = await ask(project, "custom::agent::support-v12")
      expect([one.slice(0, 40), status, text.slice(0, 300)]).toEqual([one.slice(0, 40), 200, expect.any(String)])
    }
    expect(await callsOf(acme, project)).toHaveLength(odd.length)
  })

  test("a name that is no model of a provider is refused", async () => {
    const project = acme.newProject()
    await applied(project, "agent")
    for (const [model, status] of [
      ["custom::agent::other", 404],
      ["custom::agent", 400],
      [`weave:///${project}/object/agent:latest`, 400],
      [`weave:///${project}/call/x`, 400],
    ] as const) {
      expect([model, (await ask(project, model)).status]).toEqual([model, status])
    }
    const byRef = await ask(project, `weave:///${project}/object/agent-support-v12:latest`)
    expect([byRef.status, asked.length]).toEqual([200, 1])
  })
})

describe("calls 9: image/create", () => {
  const image = (project_id: string, inputs: object, more: object = {}) =>
    acme.post("/image/create", { project_id, inputs, ...more })

  test("images of a provider, recorded as a call", async () => {
    const project = acme.newProject()
    await applied(project, "painter", { runtime_ids: [{ id: "brush-1" }] })
    const made = { created: 1, data: [{ b64_json: "aGk=" }], usage: { total_tokens: 9 } }
    answer = (response) => json(response, 200, made)
    const inputs = { model: "custom::painter::brush-1", prompt: "a cat", n: 2 }
    const { status, body } = await image(project, inputs)
    expect([status, body]).toEqual([200, { response: made, weave_call_id: expect.any(String) }])
    expect([asked[0]?.url, JSON.parse(asked[0]?.body ?? "")]).toEqual([
      "/v1/images/generations",
      { model: "brush-1", prompt: "a cat", n: 2 },
    ])
    expect(await callsOf(acme, project)).toMatchObject([
      {
        op_name: "weave.image_generation_create",
        inputs,
        output: made,
        exception: null,
        summary: { usage: { "painter/brush-1": { total_tokens: 9 } } },
      },
    ])
    expect((await image(project, inputs, { track_llm_call: false })).body).toEqual({
      response: made,
      weave_call_id: null,
    })
    expect(await callsOf(acme, project)).toHaveLength(1)
  })

  test("a request that cannot be recorded is refused before the provider is asked", async () => {
    const project = acme.newProject()
    await applied(project, "painter", { runtime_ids: [{ id: "brush-1" }] })
    const deep = JSON.parse("[".repeat(196) + "]".repeat(196)) as unknown
    expect((await image(project, { model: "custom::painter::brush-1", prompt: "a cat", deep })).status).toBe(413)
    expect([asked, await callsOf(acme, project)]).toEqual([[], []])
  })

  test("a failure is recorded; a model that no provider serves is 400", async () => {
    const project = acme.newProject()
    await applied(project, "painter")
    answer = (response) => json(response, 400, { error: { message: "no cats" } })
    const { body } = await image(project, { model: "custom::painter::support-v12", prompt: "a cat" })
    expect((body as { response: unknown }).response).toEqual({ error: expect.stringContaining("no cats") })
    expect(await callsOf(acme, project)).toMatchObject([{ exception: expect.stringContaining("no cats") }])
    const own = await image(project, { model: "heddle/tiny", prompt: "a cat" })
    expect([own.status, reasonOf(own.body)]).toEqual([400, expect.stringContaining("heddle/tiny")])
  })
})

describe("HEDDLE_SECRETS", () => {
  test.each([0o640, 0o604, 0o644, 0o620])(
    "security 5.2: a file with mode %i (decimal) stops the start, with the way out",
    async (mode) => {
      const file = path.join(folder, `open-${mode}.json`)
      await writeFile(file, "{}")
      await chmod(file, mode)
      const refused = createApp({ ...opened.config, dataDir: path.join(folder, "data"), secretsFile: file })
      await expect(refused).rejects.toThrow(
        `${file}, cannot be used: other users of this machine can read it (mode 0${mode.toString(8)}). Close it: chmod 600 ${file}`,
      )
      await chmod(file, 0o600)
      expect(await loadProviderSecrets(file)).toEqual(new Map())
    },
  )

  test.runIf(process.getuid?.() === 0)("a file that somebody else put there may be read through a group", async () => {
    const file = path.join(folder, "mounted.json")
    await writeFile(file, "{}")
    await chown(file, 65_534, 0)
    await chmod(file, 0o440)
    expect(await loadProviderSecrets(file)).toEqual(new Map())
    await chmod(file, 0o444)
    await expect(loadProviderSecrets(file)).rejects.toThrow("mode 0444")
  })

  test.each([
    ["absent", null, "ENOENT"],
    ["not JSON", "{sk-very-secret", "it is not JSON"],
    ["without origins", '{"K":{"value":"sk-very-secret","origins":[]}}', "origins"],
  ])("a file that is %s stops the start with its name, and does not show what is in it", async (_, text, reason) => {
    const file = path.join(folder, `${Math.random()}.json`)
    if (text !== null) await writeFile(file, text, { mode: 0o600 })
    const failure = await loadProviderSecrets(file).catch((error: unknown) => error as Error)
    expect(failure).toMatchObject({ message: expect.stringContaining(file) })
    expect(failure).toMatchObject({ message: expect.stringContaining(reason) })
    // `inspect` prints the error with its causes, as the log level debug does.
    expect(inspect(failure)).not.toContain("very-secret")
  })
})
