/** Rollouts that the server gathers: their calls, turns and rewards, how long they are kept, and who may see them. */
import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { fakeTokens } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { expireRollouts } from "../../src/storage/catalog/training/rollouts.ts"
import { ask as askApp, inRollout, issueCodes, read, type Rollout, turnsOf } from "../support/rollouts.ts"
import type { Caller } from "../support/test-app.ts"
import { newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
let acme: Caller
let policy: string
let modelId: string
beforeAll(async () => {
  opened = await openTrainingApp({ limits: { ...defaultLimits, rollout_turns: 4 } })
  acme = opened.acme
  const model = await newModel(acme)
  modelId = model.id
  policy = `wandb-artifact:///acme/tests/${model.name}`
})
afterAll(() => opened.close())

const messages = [{ role: "user", content: "2+3=" }]
const ask = (url: string, body: object, headers = {}, caller = acme) => askApp(opened.app, caller, url, body, headers)
const chat = (headers: Record<string, string>, more: object = {}) =>
  ask("/v1/chat/completions", { model: policy, messages, max_tokens: 4, ...more }, headers)
const reward = (id: string, body: object, caller = acme) => caller.post(`/v1/rollouts/${id}/reward`, body)
const list = async (query = "") => {
  const { status, body } = await acme.get(`/v1/rollouts?project_id=acme/tests${query}`)
  expect([status, body]).toEqual([200, expect.anything()])
  return body as { data: Rollout[]; has_more: boolean; last_id: string }
}
const tokens = fakeTokens(4)
const ids = [100, 101, 102, 103]
const logprobs = [-0.5, -0.625, -0.75, -0.875]

describe("the calls of a rollout", () => {
  test.each([
    ["chat_completions", "/v1/chat/completions", { messages }],
    ["completions", "/v1/completions", { prompt: "2+3=" }],
    ["responses", "/v1/responses", { input: "2+3=" }],
    ["messages", "/v1/messages", { messages }],
  ])(
    "a call of %s with the header keeps its prompt, its answer and the tokens of both",
    async (protocol, url, asked) => {
      const limit = protocol === "responses" ? { max_output_tokens: 4 } : { max_tokens: 4 }
      for (const stream of [false, true]) {
        const id = `${protocol}-${stream}`
        const { status, body, text } = await ask(
          url,
          { model: policy, ...asked, ...limit, stream },
          inRollout(id, "q1"),
        )
        expect([status, text]).toEqual([200, expect.any(String)])
        const [turn, ...others] = await turnsOf(acme, id)
        expect(others).toEqual([])
        expect(turn).toMatchObject({
          protocol,
          model: policy,
          model_id: modelId,
          step: 0,
          base_model: "heddle/tiny",
          group: "q1",
          is_finished: true,
          extends: null,
          prompt_tokens: 3,
          completion_tokens: 4,
          is_expired: false,
          prompt_token_ids: [1, 2, 3],
          choices: [{ index: 0, finish_reason: "stop", token_ids: ids, logprobs }],
        })
        const [choice] = turn?.choices ?? []
        if (protocol === "completions") {
          expect([turn?.prompt, turn?.messages, choice?.text]).toEqual(["2+3=", null, "abcd"])
        } else {
          expect(turn?.messages).toEqual(messages)
          expect(choice?.message).toEqual({ role: "assistant", content: "abcd" })
        }
        if (!stream) expect(turn?.id).toBe((body as { id: string }).id)
      }
    },
  )

  test("the body's metadata names it as the header does, and a number is a name", async () => {
    expect((await chat({}, { metadata: { rollout_id: 7, rollout_group: "q", other: [1] } })).status).toBe(200)
    expect(await read(acme, "7")).toMatchObject({ id: "7", group: "q", turns: 1, project_id: "acme/tests" })
    const responses = { model: policy, input: "x", metadata: { rollout_id: "by-metadata" } }
    expect((await ask("/v1/responses", responses)).status).toBe(200)
    expect(await read(acme, "by-metadata")).toMatchObject({ turns: 1, group: null })
  })

  test("a trace that encloses a trained model's call is its rollout, a Weave call that is named one too", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c"
    const traceparent = `00-${trace}-b7ad6b7169203331-01`
    expect((await chat({ traceparent })).status).toBe(200)
    expect(await turnsOf(acme, trace)).toMatchObject([{ trace_id: trace, span_id: "b7ad6b7169203331", call_id: null }])
    const call = "0198c5a0-0000-7000-8000-000000000001"
    expect((await chat({ "x-heddle-call-id": call, traceparent })).status).toBe(200)
    expect(await turnsOf(acme, call)).toMatchObject([{ trace_id: trace, call_id: call }])
    expect((await chat({ ...inRollout("named"), traceparent, "x-heddle-call-id": call })).status).toBe(200)
    expect(await turnsOf(acme, "named")).toMatchObject([{ trace_id: trace, call_id: call }])
    // A call of a base model without a rollout id makes no rollout, since it cannot be trained on.
    const other = "4bf92f3577b34da6a3ce929d0e0e4736"
    await ask(
      "/v1/chat/completions",
      { model: "heddle/tiny", messages },
      { traceparent: `00-${other}-b7ad6b7169203331-01` },
    )
    expect((await acme.get(`/v1/rollouts/${other}`)).status).toBe(404)
    // Whoever names it by the trace's id means a rollout.
    const named = { ...inRollout(other), traceparent: `00-${other}-b7ad6b7169203331-01` }
    expect((await ask("/v1/chat/completions", { model: "heddle/tiny", messages }, named)).status).toBe(200)
    expect(await read(acme, other)).toMatchObject({ id: other, turns: 1 })
    // Broken headers name no trace, and the standard says to go on without one.
    for (const broken of ["00-0-1-01", `00-${"0".repeat(32)}-b7ad6b7169203331-01`]) {
      expect((await chat({ traceparent: broken })).status).toBe(200)
    }
  })

  test.each([
    ["a name with a slash", inRollout("a/b"), {}, 'x-heddle-rollout-id is \\"a/b\\"'],
    ["a name that is too long", inRollout("x".repeat(129)), {}, "1 to 128"],
    ["a group without a rollout", { "x-heddle-rollout-group": "g" }, {}, 'the group \\"g\\" without a rollout'],
    ["a list in the metadata", {}, { metadata: { rollout_id: ["a"] } }, "metadata.rollout_id is no text"],
    ["an empty name", {}, { metadata: { rollout_id: "" } }, 'metadata.rollout_id is \\"\\"'],
    [
      "a header and metadata that differ",
      inRollout("one"),
      { metadata: { rollout_id: "two" } },
      'says \\"one\\" and metadata.rollout_id says \\"two\\"; send one of them',
    ],
  ])("%s is refused before anything is sampled", async (_, headers, more, message) => {
    const before = opened.fake.calls.length
    const { status, text } = await chat(headers, more)
    expect([status, text]).toEqual([400, expect.stringContaining(message)])
    expect(opened.fake.calls.length).toBe(before)
  })

  test("a call without a name belongs to none, and scoring a prompt samples nothing", async () => {
    const before = (await list("&limit=100")).data.length
    expect((await chat({})).status).toBe(200)
    const scored = { model: policy, prompt: "abc", max_tokens: 0, echo: true, logprobs: 1 }
    expect((await ask("/v1/completions", scored, inRollout("scored"))).status).toBe(200)
    expect((await list("&limit=100")).data.length).toBe(before)
  })

  test("a rollout has so many turns, and the next one is refused", async () => {
    for (let count = 0; count < 4; count++) expect((await chat(inRollout("long"))).status).toBe(200)
    const { status, text } = await chat(inRollout("long"))
    expect([status, text]).toEqual([400, expect.stringContaining('the rollout \\"long\\" has 4 turns')])
    expect(await read(acme, "long")).toMatchObject({ turns: 4 })
  })

  test("law 3: messages, tools and arguments keep their numbers as they were spelled", async () => {
    const body =
      `{"model":${JSON.stringify(policy)},"max_tokens":4,"messages":[{"role":"user","content":"x","n":12345678901234567890}],` +
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","minimum":1.0}}}]}'
    const { statusCode } = await opened.app.server.inject({
      method: "POST",
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${acme.key}`, "content-type": "application/json", ...inRollout("exact") },
      payload: body,
    })
    expect(statusCode).toBe(200)
    const { payload } = await opened.app.server.inject({
      url: "/v1/rollouts/exact/turns",
      headers: { authorization: `Bearer ${acme.key}` },
    })
    expect(payload).toContain('"n":12345678901234567890')
    expect(payload).toContain('"minimum":1.0')
  })
})

describe("turns and branches", () => {
  test("a turn goes on from the one whose tokens its prompt begins with; others are branches", async () => {
    const chatOf = opened.fake.handlers.chat
    const prompts = [
      [1, 2, 3],
      [1, 2, 3, ...ids, 9],
      [7, 7],
      [1, 2, 3, ...ids, 9, ...ids, 5],
    ]
    let turn = 0
    opened.fake.handlers.chat = () => {
      const choice = { index: 0, content: "abcd", reasoning: "so", tool_calls: [], finish_reason: "stop" }
      const prompt_token_ids = prompts[turn++] ?? []
      return {
        prompt_token_ids,
        cached_tokens: 0,
        completion_tokens: 4,
        choices: [{ ...choice, stop_reason: null, tokens }],
        prompt_logprobs: null,
      }
    }
    for (const _ of prompts) expect((await chat(inRollout("branches"))).status).toBe(200)
    opened.fake.handlers.chat = chatOf as NonNullable<typeof chatOf>
    const turns = await turnsOf(acme, "branches")
    const place = (id: string | null) => turns.findIndex((one) => one.id === id)
    expect(turns.map((one) => place(one.extends))).toEqual([-1, 0, -1, 1])
    expect(turns[0]?.choices?.[0]?.message).toEqual({ role: "assistant", content: "abcd", reasoning: "so" })
  })

  test("several answers to one question are one turn with as many choices", async () => {
    expect((await chat(inRollout("several"), { n: 3 })).status).toBe(200)
    const [turn] = await turnsOf(acme, "several")
    expect(turn?.choices?.map(({ index, token_ids }) => [index, token_ids])).toEqual([
      [0, ids],
      [1, ids],
      [2, ids],
    ])
    expect(turn).toMatchObject({ prompt_tokens: 3, completion_tokens: 12 })
  })

  test("a stream that breaks off leaves a turn that is not finished, is shown and is not trained", async () => {
    const chatOf = opened.fake.handlers.chat
    opened.fake.handlers.chat = (_, call) => {
      call.emit("start", { prompt_token_ids: [1, 2, 3], cached_tokens: 0 })
      call.emit("delta", { index: 0, content: "ab", reasoning: "", tool_calls: [], tokens: tokens.slice(0, 2) })
      throw new EngineFailure("internal", "broken")
    }
    const { text } = await chat(inRollout("broken"), { stream: true })
    opened.fake.handlers.chat = chatOf as NonNullable<typeof chatOf>
    expect(text).not.toContain("[DONE]")
    await expect.poll(async () => (await acme.get("/v1/rollouts/broken")).status).toBe(200)
    expect(await turnsOf(acme, "broken")).toMatchObject([
      { is_finished: false, completion_tokens: 2, choices: [{ finish_reason: null, token_ids: [100, 101] }] },
    ])
    expect(await reward("broken", { reward: 1 })).toMatchObject({ status: 200 })
    expect(await acme.get("/v1/rollouts/broken/trajectory")).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("1 of its 1 turns broke off before their end and are not trained") },
    })
    expect((await chat(inRollout("broken"))).status).toBe(200)
    const { body } = await acme.get("/v1/rollouts/broken/trajectory")
    const { exchanges } = body as { exchanges: { chat_completions: unknown[]; completions: unknown[] } }
    expect([exchanges.chat_completions.length, exchanges.completions]).toEqual([1, []])
    expect(issueCodes(await read(acme, "broken"))).toEqual(["unfinished_turns"])
  })

  test("of several prompts in a stream that breaks off, those that ended say how", async () => {
    const chatOf = opened.fake.handlers.chat
    opened.fake.handlers.chat = (params, call) => {
      if (params.prompt !== "b") return chatOf?.(params, call)
      throw new EngineFailure("internal", "broken")
    }
    const asked = { model: policy, prompt: ["a", "b"], max_tokens: 4, stream: true }
    await ask("/v1/completions", asked, inRollout("half"))
    opened.fake.handlers.chat = chatOf as NonNullable<typeof chatOf>
    await expect.poll(async () => (await acme.get("/v1/rollouts/half")).status).toBe(200)
    expect(await turnsOf(acme, "half")).toMatchObject([
      { is_finished: false, choices: [{ index: 0, finish_reason: "stop", token_ids: ids }] },
    ])
  })

  test("an answer that failed is no turn", async () => {
    const chatOf = opened.fake.handlers.chat
    opened.fake.handlers.chat = () => {
      throw new EngineFailure("internal", "broken")
    }
    expect((await chat(inRollout("failed"))).status).toBe(500)
    opened.fake.handlers.chat = chatOf as NonNullable<typeof chatOf>
    expect((await acme.get("/v1/rollouts/failed")).status).toBe(404)
  })

  test("turns come by pages that end", async () => {
    for (let count = 0; count < 3; count++) await chat(inRollout("paged"))
    const all = await turnsOf(acme, "paged")
    const seen: string[] = []
    for (let after = ""; ;) {
      const { body } = await acme.get(`/v1/rollouts/paged/turns?limit=2${after}`)
      const page = body as { data: { id: string }[]; has_more: boolean; last_id: string }
      seen.push(...page.data.map(({ id }) => id))
      if (!page.has_more) break
      after = `&after=${page.last_id}`
    }
    expect(seen).toEqual(all.map(({ id }) => id))
    expect((await acme.get("/v1/rollouts/paged/turns?after=none")).status).toBe(404)
    expect((await turnsOf(acme, "paged", ""))[0]?.choices?.[0]).not.toHaveProperty("token_ids")
  })
})

describe("rewards", () => {
  test("the newest counts, the earlier ones stay, with who gave them and when", async () => {
    await chat(inRollout("rewarded"))
    expect(issueCodes(await read(acme, "rewarded"))).toEqual(["unrewarded"])
    const first = await reward("rewarded", { reward: 0.25, metrics: { exact: 0 }, reason: "so", key: "grader-1" })
    expect(first).toMatchObject({ status: 200, body: { reward: 0.25, metrics: { exact: 0 }, username: "acme" } })
    expect(await reward("rewarded", { reward: 0.25, metrics: { exact: 0 }, reason: "so", key: "grader-1" })).toEqual(
      expect.objectContaining({ status: 200, body: first.body }),
    )
    expect(await reward("rewarded", { reward: 1, key: "grader-1" })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('the key "grader-1" has given the reward 0.25 already') },
    })
    const second = await reward("rewarded", { reward: -1 })
    expect((await reward("rewarded", { reward: -1 })).body).toEqual(second.body)
    // A late repetition of the first reward gets its answer and changes nothing.
    await reward("rewarded", { reward: 0.25, metrics: { exact: 0 }, reason: "so", key: "grader-1" })
    const found = await read(acme, "rewarded")
    expect(found).toMatchObject({ reward: -1, issues: [] })
    expect(found.rewards).toEqual([first.body, second.body])
    expect(found.rewarded_at).toBe((second.body as { created_at: string }).created_at)
  })

  test.each([
    ["NaN", '{"reward": NaN}', 400],
    ["an overflow", '{"reward": 1e999}', 422],
    ["a text", '{"reward": "NaN"}', 422],
    ["null", '{"reward": null}', 422],
    ["nothing", "{}", 422],
    ["a metric that is none", '{"reward": 1, "metrics": {"a": "b"}}', 422],
    ["U+0000", '{"reward": 1, "reason": "a\\u0000b"}', 400],
  ])("%s is no reward, and nothing is stored", async (_, body, status) => {
    await chat(inRollout("odd"))
    expect((await acme.post("/v1/rollouts/odd/reward", body)).status).toBe(status)
    expect(await read(acme, "odd")).toMatchObject({ reward: null, rewards: [] })
  })

  test("without a reward a rollout is no trajectory, and 0 is not guessed", async () => {
    await chat(inRollout("unrewarded"))
    expect(await acme.get("/v1/rollouts/unrewarded/trajectory")).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("nobody has given it a reward yet") },
    })
  })

  test("a trajectory holds the calls as a client would have captured them, and a job takes it", async () => {
    const { id: model_id, name } = await newModel(acme)
    const trained = `wandb-artifact:///acme/tests/${name}`
    for (const [place, id] of ["t0", "t1"].entries()) {
      await chat(inRollout(id, "q"), { model: trained })
      await reward(id, { reward: place, metrics: { length: 4 } })
    }
    const trajectories = await Promise.all(["t0", "t1"].map((id) => acme.get(`/v1/rollouts/${id}/trajectory`)))
    expect(trajectories[1]?.body).toMatchObject({
      reward: 1,
      metrics: { length: 4 },
      metadata: { rollout_id: "t1", rollout_group: "q", issues: [] },
      exchanges: {
        chat_completions: [
          {
            model: `${trained}:step0`,
            response: {
              prompt_token_ids: [1, 2, 3],
              choices: [{ finish_reason: "stop", token_ids: ids, compact_logprobs: logprobs }],
            },
          },
        ],
      },
    })
    const groups = [{ trajectories: trajectories.map(({ body }) => body) }]
    const { status, body } = await acme.post("/v1/preview/training-jobs", {
      model_id,
      trajectory_groups: groups,
    })
    expect([status, body]).toMatchObject([200, { warnings: [] }])
  })
})

describe("reading rollouts", () => {
  test("a list is filtered by group, model, step, reward and time, and comes in pages", async () => {
    const other = await newModel(acme)
    const named = `wandb-artifact:///acme/tests/${other.name}`
    const from = new Date().toISOString()
    for (const [id, group] of [
      ["l0", "g1"],
      ["l1", "g1"],
      ["l2", "g2"],
    ] as const) {
      await ask("/v1/chat/completions", { model: named, messages, max_tokens: 2 }, inRollout(id, group))
    }
    await reward("l1", { reward: 0.5 })
    const found = async (query: string) => (await list(query)).data.map(({ id }) => id)
    const ofModel = `&model_id=${other.id}`
    expect(await found(ofModel)).toEqual(["l2", "l1", "l0"])
    expect(await found(`${ofModel}&order=asc`)).toEqual(["l0", "l1", "l2"])
    expect(await found(`${ofModel}&group=g1`)).toEqual(["l1", "l0"])
    expect(await found(`${ofModel}&rewarded=true`)).toEqual(["l1"])
    expect(await found(`${ofModel}&rewarded=false`)).toEqual(["l2", "l0"])
    expect(await found(`${ofModel}&step=0`)).toHaveLength(3)
    expect(await found(`${ofModel}&step=1`)).toEqual([])
    expect(await found(`${ofModel}&since=${encodeURIComponent(from)}`)).toHaveLength(3)
    expect(await found(`${ofModel}&until=${encodeURIComponent(from)}`)).toEqual([])
    expect(await found("&model_id=none")).toEqual([])
    expect(await found("&step=3000000000")).toEqual([])
    expect(await found("&group=%00")).toEqual([])
    const first = await list(`${ofModel}&limit=2`)
    expect([first.has_more, first.last_id]).toEqual([true, "l1"])
    expect(await found(`${ofModel}&limit=2&after=l1`)).toEqual(["l0"])
    expect(first.data[0]).toMatchObject({
      object: "rollout",
      turns: 1,
      prompt_tokens: 3,
      completion_tokens: 2,
      models: [{ model: `${named}:step0`, model_id: other.id, step: 0, turns: 1 }],
    })
  })

  test("several models or groups in one rollout, and a base model alone, are issues", async () => {
    const other = await newModel(acme)
    const named = `wandb-artifact:///acme/tests/${other.name}`
    await chat(inRollout("mixed", "one"))
    await ask("/v1/chat/completions", { model: named, messages, max_tokens: 2 }, inRollout("mixed", "two"))
    const base = { ...inRollout("mixed"), "openai-project": "acme/tests" }
    await ask("/v1/chat/completions", { model: "heddle/tiny", messages, max_tokens: 2 }, base)
    const found = await read(acme, "mixed")
    expect(issueCodes(found)).toEqual(["unrewarded", "several_models", "several_groups"])
    expect(found.group).toBe("one")
    expect(found.models.map(({ model, step }) => [model, step])).toEqual([
      [`${policy}:step0`, 0],
      [`${named}:step0`, 0],
      ["heddle/tiny", null],
    ])
    await ask(
      "/v1/chat/completions",
      { model: "heddle/tiny", messages, max_tokens: 2 },
      {
        ...inRollout("base-only"),
        "openai-project": "acme/tests",
      },
    )
    expect(issueCodes(await read(acme, "base-only"))).toEqual(["unrewarded", "untrained_model"])
  })

  test("security 5.3: another team's rollout is answered as one that is not there, whatever is asked of it", async () => {
    await chat(inRollout("secret"))
    const { rival } = opened
    const same = async (id: string) =>
      Promise.all([
        rival.get(`/v1/rollouts/${id}`),
        rival.get(`/v1/rollouts/${id}/turns`),
        rival.get(`/v1/rollouts/${id}/trajectory`),
        rival.post(`/v1/rollouts/${id}/reward`, { reward: 1 }),
        rival.delete(`/v1/rollouts/${id}`),
        rival.get(`/v1/rollouts/${id}?project_id=acme/tests`),
      ])
    const words = (answers: { status: number; body: unknown }[]) =>
      answers.map(({ status, body }) => [status, JSON.stringify(body).replaceAll(/secret|nobody-has-it/g, "id")])
    const there = words(await same("secret"))
    expect(there).toEqual(words(await same("nobody-has-it")))
    expect(there.map(([status]) => status)).toEqual([404, 404, 404, 404, 404, 403])
    expect(await read(acme, "secret")).toMatchObject({ turns: 1, reward: null })
    // The rival may use the same id in its own project, and neither team sees the other's rollout.
    const own = await askApp(
      opened.app,
      rival,
      "/v1/chat/completions",
      { model: "heddle/tiny", messages, max_tokens: 1 },
      inRollout("secret"),
    )
    expect(own.status).toBe(200)
    expect(await read(rival, "secret")).toMatchObject({ project_id: "rival/default", turns: 1, completion_tokens: 1 })
    expect(await read(acme, "secret")).toMatchObject({ project_id: "acme/tests", turns: 1, completion_tokens: 4 })
  })

  test("an id that two projects of the caller have needs the project's name", async () => {
    await chat(inRollout("twice"))
    await ask("/v1/chat/completions", { model: "heddle/tiny", messages, max_tokens: 1 }, inRollout("twice"))
    expect(await acme.get("/v1/rollouts/twice")).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("say project_id=acme/default or project_id=acme/tests") },
    })
    expect(await read(acme, "twice", "?project_id=acme/default")).toMatchObject({ completion_tokens: 1 })
  })

  test("law 2: a second DELETE says what the first one said, and the id may be used again", async () => {
    await chat(inRollout("gone"))
    await reward("gone", { reward: 1 })
    const deleted = { status: 200, body: { id: "gone", object: "rollout.deleted", deleted: true, turns: 1 } }
    expect(await acme.delete("/v1/rollouts/gone")).toMatchObject(deleted)
    expect(await acme.delete("/v1/rollouts/gone")).toMatchObject(deleted)
    expect((await acme.get("/v1/rollouts/gone")).status).toBe(404)
    expect((await reward("gone", { reward: 1 })).status).toBe(404)
    expect((await list("&limit=100")).data.map(({ id }) => id)).not.toContain("gone")
    await chat(inRollout("gone"))
    expect(await read(acme, "gone")).toMatchObject({ turns: 1, reward: null, rewards: [] })
    const { body } = await opened.admin.get("/v1/organization/audit_logs?event_types[]=rollout.deleted")
    expect(body).toMatchObject({ data: [{ team: "acme", "rollout.deleted": { id: "gone", turns: 1 } }] })
  })

  test("laws 2 and 8: of DELETEs at the same time each says the same, and what it took is given back once", async () => {
    const stored = async () => {
      const { body } = await acme.get("/v1/organization/teams/acme/quotas")
      const { quotas } = body as { quotas: { name: string; used: number }[] }
      return quotas.find(({ name }) => name === "stored_bytes")?.used ?? expect.unreachable()
    }
    await chat(inRollout("kept"))
    const before = await stored()
    await chat(inRollout("gone-at-once"))
    expect(await stored()).toBeGreaterThan(before)
    const answers = await Promise.all(Array.from({ length: 8 }, () => acme.delete("/v1/rollouts/gone-at-once")))
    const deleted = { status: 200, body: { deleted: true, turns: 1 } }
    for (const answer of answers) expect(answer).toMatchObject(deleted)
    expect(await stored()).toBe(before)
    const { body } = await opened.admin.get("/v1/organization/audit_logs?event_types[]=rollout.deleted")
    expect(
      (body as { data: { "rollout.deleted": { id: string } }[] }).data.map((entry) => entry["rollout.deleted"].id),
    ).toEqual(["gone-at-once", "gone"])
  })
})

test("tokens whose time is over are gone and said to be, with the day; turns and rewards stay", async () => {
  const { catalog } = opened.app.stores
  await chat(inRollout("old"))
  await reward("old", { reward: 1 })
  const sizeOf = async () =>
    (
      await catalog
        .selectFrom("rollouts")
        .select("size_bytes")
        .where("rollout_id", "=", "old")
        .executeTakeFirstOrThrow()
    ).size_bytes
  expect(await sizeOf()).toBeGreaterThan(300)
  await sql`update rollouts set expires_at = '2026-03-04T05:06:07Z' where rollout_id = 'old'`.execute(catalog)
  const expired = "messages and tokens of its turns were kept until 2026-03-04 and are gone"
  const looksExpired = async () => {
    expect((await read(acme, "old")).issues).toEqual([{ code: "expired", message: expired }])
    expect(await turnsOf(acme, "old")).toMatchObject([
      { is_expired: true, messages: null, choices: null, prompt_tokens: 3, completion_tokens: 4 },
    ])
    expect(await acme.get("/v1/rollouts/old/trajectory")).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(expired) },
    })
  }
  // The rollout looks expired before and after the daily work that removes its tokens.
  await looksExpired()
  expect(await expireRollouts(catalog, new AbortController().signal)).toBe(1)
  expect(await sizeOf()).toBe(0)
  await looksExpired()
  expect((await chat(inRollout("old"))).status).toBe(200)
  const again = await read(acme, "old")
  const rest = "messages and tokens of 1 of its 2 turns are gone: their time was over before the newest turn came"
  expect(again.issues).toEqual([{ code: "expired", message: rest }])
  expect(again.reward).toBe(1)
  // A later turn without the removed ones was not rewarded, so there is no trajectory.
  expect(await acme.get("/v1/rollouts/old/trajectory")).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining(rest) },
  })
})

test("a team without room is refused before anything is sampled", async () => {
  const quotas = (stored_bytes: number | null) =>
    opened.admin.post("/v1/organization/teams/acme/quotas", { stored_bytes })
  expect((await quotas(1)).status).toBe(200)
  const before = opened.fake.calls.length
  const { status, text } = await chat(inRollout("full"))
  expect([status, text]).toEqual([403, expect.stringContaining("acme")])
  expect(opened.fake.calls.length).toBe(before)
  expect((await chat({})).status).toBe(200)
  expect((await quotas(null)).status).toBe(200)
})

test("a call that a trace alone puts into a rollout is answered although there is no room for it, and is no turn", async () => {
  const trace = "1af7651916cd43dd8448eb211c80319c"
  const traced = () => chat({ traceparent: `00-${trace}-b7ad6b7169203331-01` })
  for (let turn = 0; turn < 6; turn++) expect((await traced()).status).toBe(200)
  expect(await turnsOf(acme, trace)).toHaveLength(4)
  const full = await chat(inRollout(trace))
  expect([full.status, full.text]).toEqual([400, expect.stringContaining("has 4 turns")])
  const quotas = (stored_bytes: number | null) =>
    opened.admin.post("/v1/organization/teams/acme/quotas", { stored_bytes })
  expect((await quotas(1)).status).toBe(200)
  const other = "2af7651916cd43dd8448eb211c80319c"
  expect((await chat({ traceparent: `00-${other}-b7ad6b7169203331-01` })).status).toBe(200)
  expect((await quotas(null)).status).toBe(200)
  expect((await acme.get(`/v1/rollouts/${other}`)).status).toBe(404)
})
