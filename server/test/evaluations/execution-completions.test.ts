/** Completions that the server makes and records: evaluation-store-calls 9. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { HeddleError } from "../../src/errors.ts"
import { untilCancelled } from "../../src/engines/fake-engine.ts"
import { completionAnswer } from "../../src/wire/evaluations/completion.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { answering, callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { fullOnceAsked } from "../support/team-room.ts"

let opened: ExecutionApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openExecutionApp()
  acme = opened.acme
})
beforeEach(() => {
  opened.fake.handlers = { ...opened.fake.handlers, chat: answering((messages) => `to: ${messages.at(-1)?.content}`) }
})
afterAll(() => opened.close())

const model = "heddle/tiny"
const ask = (content: string) => ({ model, messages: [{ role: "user", content }] })

const create = async (project_id: string, inputs: object, more: object = {}) => {
  const answer = await acme.post("/completions/create", { project_id, inputs, ...more })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return completionAnswer.parse(answer.body)
}

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, prompt_tokens_details: { cached_tokens: 1 } }

describe("calls 9: completions/create", () => {
  test("the answer of chat, recorded as a call with its usage", async () => {
    const project = acme.newProject()
    const { response, weave_call_id, trace_id } = await create(project, { ...ask("one"), temperature: 0.5, seed: null })
    expect(response).toMatchObject({
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "to: one" }, finish_reason: "stop" }],
      usage,
    })
    const [choice] = response["choices"] as object[]
    expect(Object.keys(choice ?? {})).not.toEqual(expect.arrayContaining(["token_ids"]))
    const [call, ...others] = await callsOf(acme, project)
    expect(others).toEqual([])
    expect(call).toMatchObject({
      id: weave_call_id,
      trace_id,
      parent_id: null,
      op_name: "weave.completions_create",
      inputs: { ...ask("one"), temperature: 0.5 },
      output: response,
      exception: null,
      summary: { usage: { [model]: usage }, weave: { status: "success" } },
    })
    expect(call?.ended_at).not.toBeNull()
  })

  test("it is counted like any chat, for the project of the request", async () => {
    const project = acme.newProject()
    await create(project, ask("count me"))
    const rows = await opened.app.stores.catalog
      .selectFrom("completion_usage")
      .innerJoin("projects", "projects.id", "completion_usage.project_id")
      .select(["model", "input_tokens", "input_cached_tokens", "output_tokens"])
      .where("projects.name", "=", project.split("/")[1] ?? "")
      .execute()
    expect(rows).toEqual([{ model, input_tokens: 3, input_cached_tokens: 1, output_tokens: 4 }])
  })

  test("track_llm_call false records nothing; trace, parent and conversation are kept", async () => {
    const project = acme.newProject()
    expect((await create(project, ask("quiet"), { track_llm_call: false })).weave_call_id).toBeNull()
    expect(await callsOf(acme, project)).toEqual([])
    const [trace, parent] = ["0198c5a0-0000-7000-8000-000000000001", "0198c5a0-0000-7000-8000-000000000002"]
    const answer = await create(project, ask("nested"), {
      trace_id: trace,
      parent_id: parent,
      conversation_id: "talk-1",
      source: "playground",
    })
    expect(answer).toMatchObject({ trace_id: trace, conversation_id: "talk-1", span_id: null })
    expect(await callsOf(acme, project)).toMatchObject([
      { trace_id: trace, parent_id: parent, thread_id: "talk-1", attributes: { source: "playground" } },
    ])
  })

  test("numbers of the request are recorded as they were spelled, keys of other services not at all", async () => {
    const project = acme.newProject()
    const inputs = `{"model":"${model}","messages":[{"role":"user","content":"x","n":12345678901234567890}],"temperature":1.0,"extra_headers":{"api_key":"hidden"},"vertex_credentials":"hidden"}`
    const answer = await acme.post("/completions/create", `{"project_id":"${project}","inputs":${inputs}}`)
    expect(answer.status).toBe(200)
    const { text } = await acme.post("/calls/stream_query", { project_id: project })
    expect(text).toContain('"n":12345678901234567890')
    expect(text).toContain('"temperature":1.0')
    expect(text).not.toContain("hidden")
  })

  test("a model that fails: the failure is the response and the call's exception", async () => {
    const project = acme.newProject()
    opened.fake.handlers.chat = () => {
      throw new EngineFailure("invalid", "the prompt has 9000 tokens, the model takes 2048")
    }
    const { response, weave_call_id } = await create(project, ask("long"))
    expect(response).toEqual({ error: expect.stringContaining("9000 tokens") })
    expect(await callsOf(acme, project)).toMatchObject([
      { id: weave_call_id, exception: response["error"], output: response, summary: { weave: { status: "error" } } },
    ])
  })

  test("bad requests are answered by their status, name the field, and are not recorded", async () => {
    const project = acme.newProject()
    const send = async (inputs: object, more: object = {}) => {
      const { status, body } = await acme.post("/completions/create", { project_id: project, inputs, ...more })
      return [status, body] as const
    }
    const [missing, missingBody] = await send({ model: "nobody/knows", messages: ask("x").messages })
    expect([missing, (missingBody as { reason: string }).reason]).toEqual([
      404,
      expect.stringContaining("nobody/knows"),
    ])
    const [noMessages, noMessagesBody] = await send({ model })
    expect([noMessages, noMessagesBody]).toMatchObject([422, { detail: [{ loc: ["body", "inputs", "messages"] }] }])
    const [format, formatBody] = await send({ ...ask("x"), response_format: { type: "nothing" } })
    expect([format, (formatBody as { reason: string }).reason]).toEqual([
      400,
      expect.stringContaining("response_format"),
    ])
    const route = { base_url: "http://169.254.169.254", connection: "c", connection_type: "dedicated" }
    expect((await send(ask("x"), { inference_route: route }))[0]).toBe(400)
    expect(await callsOf(acme, project)).toEqual([])
  })

  test("a request that cannot be recorded is refused before the model is asked", async () => {
    const project = acme.newProject()
    let asked = 0
    opened.fake.handlers.chat = answering(() => `${++asked}`)
    for (const [field, value] of [
      ["trace_id", "mine"],
      ["parent_id", "mine"],
    ] as const) {
      const refused = await acme.post("/completions/create", { project_id: project, inputs: ask("x"), [field]: value })
      expect([refused.status, refused.body]).toEqual([
        400,
        { error_type: "ValueError", reason: expect.stringContaining(`${field} "mine"`) },
      ])
    }
    expect(asked).toBe(0)
    // The refused request does not count among those in progress, so this one is answered.
    expect((await create(project, ask("after"))).response).toMatchObject({ choices: [{ message: { content: "1" } }] })
  })

  test.each([
    ["create", (text: string) => (JSON.parse(text) as { response: object }).response],
    ["create_stream", (text: string) => JSON.parse(text.split("\n").at(1) ?? "") as object],
  ])(
    "law 1: %s answers what was paid, though the store takes no end for now, and stores it later",
    async (way, read) => {
      const project = acme.newProject()
      const { traces } = opened.app.stores
      const busy = new HeddleError("store_overloaded", "the trace store (ClickHouse) has too much to do")
      opened.fake.handlers.chat = (params, call) => {
        insert.mockRejectedValueOnce(busy).mockRejectedValueOnce(busy)
        return answering(() => "paid")(params, call)
      }
      const insert = vi.spyOn(traces, "insertCsv")
      try {
        const answer = await acme.post(`/completions/${way}`, { project_id: project, inputs: ask("x") })
        expect([answer.status, read(answer.text)]).toMatchObject([200, { choices: [{ index: 0 }] }])
        expect(answer.text).toContain("paid")
        await expect.poll(async () => (await callsOf(acme, project))[0]?.ended_at, { timeout: 10_000 }).not.toBeNull()
        expect(await callsOf(acme, project)).toMatchObject([
          { exception: null, output: { choices: [{ message: { content: "paid" } }] }, summary: { usage: {} } },
        ])
        await expect
          .poll(() => opened.app.stores.catalog.selectFrom("open_calls").selectAll().execute(), { timeout: 10_000 })
          .toEqual([])
      } finally {
        insert.mockRestore()
      }
    },
  )

  test.each(["create", "create_stream"])(
    "%s answers what was paid and ends its call, though the team has become full meanwhile",
    async (way) => {
      const project = acme.newProject()
      opened.fake.handlers.chat = answering(() => "paid")
      fullOnceAsked(opened.admin, opened.fake)
      const send = () => acme.post(`/completions/${way}`, { project_id: project, inputs: ask("x") })
      const answer = await send()
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("paid")])
      expect((await send()).status).toBe(403)
      const [call, ...others] = await callsOf(acme, project)
      expect(others).toEqual([])
      expect(call).toMatchObject({
        ended_at: expect.any(String),
        exception: null,
        output: { choices: [{ message: { content: "paid" } }] },
      })
      expect(await opened.app.stores.catalog.selectFrom("open_calls").selectAll().execute()).toEqual([])
    },
  )

  test("another team's project is 403", async () => {
    const project = acme.newProject()
    await create(project, ask("mine"))
    for (const path of ["/completions/create", "/completions/create_stream"]) {
      const answer = await opened.rival.post(path, { project_id: project, inputs: ask("theirs") })
      expect([answer.status, answer.body]).toEqual([403, { detail: "Project not found" }])
    }
    expect(await callsOf(acme, project)).toHaveLength(1)
  })
})

describe("calls 9: prompts and their variables", () => {
  const publish = async (project_id: string, object_id: string, val: object) => {
    const answer = await acme.post("/obj/create", { obj: { project_id, object_id, val } })
    expect(answer.status).toBe(200)
    return `weave:///${project_id}/object/${object_id}:${(answer.body as { digest: string }).digest}`
  }
  const prompt = (...messages: object[]) => ({
    _type: "MessagesPrompt",
    _class_name: "MessagesPrompt",
    _bases: ["Prompt", "Object", "BaseModel"],
    messages,
  })

  test("messages of the prompt come first, variables are filled in, the call keeps the template", async () => {
    const project = acme.newProject()
    const ref = await publish(
      project,
      "greeting",
      prompt({ role: "system", content: "Speak {language}, {{not}} {person[name]}" }),
    )
    for (const name of [ref, "greeting", "greeting:v0"]) {
      let seen: unknown
      opened.fake.handlers.chat = answering((messages) => {
        seen = messages.map(({ role, content }) => [role, content])
        return "ok"
      })
      const inputs = {
        model,
        prompt: name,
        messages: [
          { role: "assistant", content: '{"kept": 1}' },
          { role: "user", content: "{n} {flag} {list}" },
        ],
        template_vars: { language: "Greek", person: { name: "Eva" }, n: 1.5, flag: true, list: [1, "a"] },
      }
      await create(project, inputs)
      expect(seen).toEqual([
        ["system", "Speak Greek, {not} Eva"],
        ["assistant", '{"kept": 1}'],
        ["user", '1.5 True [1,"a"]'],
      ])
    }
    const [call] = await callsOf(acme, project)
    expect(call?.inputs).toMatchObject({
      prompt: ref,
      template_vars: { language: "Greek" },
      messages: [{}, { content: "{n} {flag} {list}" }],
    })
  })

  test("an unknown variable, a lone brace, no prompt, another team's prompt: said so, nothing recorded", async () => {
    const project = acme.newProject()
    const theirs = opened.rival.newProject()
    const secret = await opened.rival.post("/obj/create", {
      obj: { project_id: theirs, object_id: "p", val: prompt() },
    })
    const foreign = `weave:///${theirs}/object/p:${(secret.body as { digest: string }).digest}`
    await publish(project, "thing", { a: 1 })
    const cases: [object, number, string][] = [
      [{ messages: [{ role: "user", content: "{who}" }], template_vars: { name: 1 } }, 400, "name"],
      [{ messages: [{ role: "user", content: "a } b" }], template_vars: { name: 1 } }, 400, "}}"],
      [{ messages: [{ role: "user", content: "{a.b}" }], template_vars: { a: 1 } }, 400, "{a.b}"],
      [{ prompt: "absent" }, 404, "absent"],
      [{ prompt: "thing" }, 400, "MessagesPrompt"],
      [{ prompt: foreign }, 403, "Project not found"],
    ]
    for (const [inputs, status, text] of cases) {
      const answer = await acme.post("/completions/create", { project_id: project, inputs: { model, ...inputs } })
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)])
    }
    expect(await callsOf(acme, project)).toEqual([])
  })
})

describe("calls 9: completions/create_stream", () => {
  const stream = (project_id: string, inputs: object, more: object = {}) =>
    acme.lines("/completions/create_stream", { project_id, inputs, ...more })

  test("first _meta, then the chunks; the call holds the whole answer", async () => {
    const project = acme.newProject()
    const [meta, ...chunks] = (await stream(project, ask("again"))) as Record<string, unknown>[]
    const [call] = await callsOf(acme, project)
    expect(meta).toEqual({ _meta: { weave_call_id: call?.id, trace_id: call?.trace_id, conversation_id: null } })
    const text = chunks.flatMap((chunk) =>
      (chunk["choices"] as { delta: { content?: string } }[]).map(({ delta }) => delta.content ?? ""),
    )
    expect(text.join("")).toBe("to: again")
    expect(chunks.at(-1)).toMatchObject({ usage })
    expect(call).toMatchObject({
      op_name: "weave.completions_create",
      exception: null,
      output: {
        model,
        choices: [{ index: 0, message: { role: "assistant", content: "to: again" }, finish_reason: "stop" }],
        usage,
      },
      summary: { usage: { [model]: usage } },
    })
  })

  test("untracked: no _meta and no call", async () => {
    const project = acme.newProject()
    const [first] = (await stream(project, ask("x"), { track_llm_call: false })) as object[]
    expect(first).not.toHaveProperty("_meta")
    expect(await callsOf(acme, project)).toEqual([])
  })

  test("a failure is a line of its own and the call's exception", async () => {
    const project = acme.newProject()
    opened.fake.handlers.chat = (_params, call) => {
      call.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      throw new EngineFailure("internal", "it broke")
    }
    const lines = (await stream(project, ask("x"))) as Record<string, unknown>[]
    const error = lines.at(-1)?.["error"]
    expect(lines.at(-1)).toEqual({ error: expect.any(String), code: "internal_error" })
    expect(await callsOf(acme, project)).toMatchObject([{ exception: error }])
  })

  test("a failure says its kind, and when to ask again", async () => {
    const project = acme.newProject()
    const last = async (kind: EngineFailure["kind"], message: string) => {
      opened.fake.handlers.chat = (_params, call) => {
        call.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
        throw new EngineFailure(kind, message)
      }
      return ((await stream(project, ask("x"))) as object[]).at(-1)
    }
    const tooLong = "This model's maximum context length is 512 tokens. However, you requested 600 tokens."
    expect(await last("invalid", tooLong)).toEqual({ error: tooLong, code: "context_length_exceeded" })
    expect(await last("out_of_memory", "no room")).toEqual({
      error: "the engine is out of memory: no room",
      code: "engine_overloaded",
      retry_after_ms: 2000,
    })
  })

  test("when the client goes away, the call ends with the answer so far", async () => {
    const project = acme.newProject()
    let cancelled = false
    opened.fake.handlers.chat = async (_params, call) => {
      call.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      call.emit("delta", { index: 0, content: "begun", reasoning: "", tool_calls: [], tokens: [] })
      call.cancelled.addEventListener("abort", () => (cancelled = true))
      return untilCancelled(call)
    }
    const url = await opened.app.server.listen({ port: 0, host: "127.0.0.1" })
    const leaving = new AbortController()
    const answer = await fetch(`${url}/completions/create_stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${acme.key}`, "content-type": "application/json" },
      body: JSON.stringify({ project_id: project, inputs: ask("x") }),
      signal: leaving.signal,
    })
    let read = ""
    for await (const part of answer.body ?? []) {
      read += Buffer.from(part).toString()
      if (read.includes("begun")) break
    }
    leaving.abort()
    await expect
      .poll(async () => (await callsOf(acme, project))[0]?.ended_at, { timeout: 5_000 })
      .toEqual(expect.any(String))
    expect(await callsOf(acme, project)).toMatchObject([
      { exception: expect.any(String), output: { choices: [{ message: { content: "begun" } }] } },
    ])
    expect(cancelled).toBe(true)
  })
})
