import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { conversationChat, conversationSpans, traceChat } from "../../src/wire/agents/agent-chat.ts"
import { agentSearchAnswer } from "../../src/wire/agents/agents.ts"
import { mustBody } from "../support/answers.ts"
import { agent, model, said, sendSpans, sendWorld, spanId, type TestSpan, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const project = "acme/talks"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await sendWorld(opened.acme, project)
})
afterAll(() => opened.close())

async function ask(path: string, fields: object): Promise<unknown> {
  return mustBody(opened.acme.post(path, { project_id: project, ...fields }))
}

const chat = async (fields: object) => traceChat.strict().parse(await ask("/agents/traces/chat", fields))

/** Sends these spans to a new project; returns the turn that the server makes of them. */
async function chatOf(spans: TestSpan[], fields: object = {}) {
  const own = opened.acme.newProject()
  await sendSpans(opened.acme, own, ...spans)
  return chat({ project_id: own, trace_id: traceId("7"), ...fields })
}

type Turn = Awaited<ReturnType<typeof chat>>
const texts = ({ messages }: Turn) =>
  messages.map(({ type, agent_name, user_message, assistant_message, tool_call, context_compacted }) => [
    type,
    agent_name,
    user_message?.text ??
      assistant_message?.text ??
      tool_call?.tool_name ??
      context_compacted?.compaction_summary ??
      null,
  ])

describe("calls 10: traces/chat", () => {
  test("a turn in order: the prompt, the agent, its thoughts, its tool, its answer", async () => {
    const turn = await chat({ trace_id: traceId("1") })
    expect(texts(turn)).toEqual([
      ["user_message", "User", "Where is my order?"],
      ["agent_start", "helper", null],
      ["assistant_message", "helper", ""],
      ["tool_call", "helper", "lookup"],
      ["assistant_message", "helper", "It was shipped."],
    ])
    const { messages, ...summary } = turn
    expect(summary).toEqual({
      trace_id: traceId("1"),
      root_span_name: "helper",
      agent_name: "helper",
      agent_version: "1",
      status_code: "UNSET",
      provider: null,
      wb_user_id: expect.any(String),
      started_at: "2026-03-01T10:00:00.000000Z",
      ended_at: "2026-03-01T10:00:10.000000Z",
      total_duration_ms: 10_000,
      total_input_tokens: 250,
      total_output_tokens: 50,
      total_reasoning_tokens: 8,
      total_cache_creation_input_tokens: 0,
      total_cache_read_input_tokens: 50,
      total_cost_usd: expect.closeTo(3.05, 9),
      feedback: null,
    })
    expect(messages[2]?.assistant_message).toMatchObject({ reasoning_content: "I must look it up.", input_tokens: 100 })
    expect(messages[3]).toMatchObject({
      span_id: spanId("c1"),
      started_at: "2026-03-01T10:00:03.000000Z",
      tool_call: { tool_arguments: '{"id":1}', tool_result: "shipped", duration_ms: 1000, status: "UNSET" },
    })
    expect(messages[4]?.assistant_message).toEqual({
      text: "It was shipped.",
      model: "model-a-2026",
      reasoning_content: null,
      reasoning_tokens: 0,
      input_tokens: 150,
      output_tokens: 30,
      input_cost_usd: expect.closeTo(1, 9),
      output_cost_usd: expect.closeTo(0.6, 9),
      total_cost_usd: expect.closeTo(1.65, 9),
      duration_ms: 4000,
      status: "UNSET",
      content_refs: [],
    })
  })

  test("an agent inside of another, which fails", async () => {
    const turn = await chat({ trace_id: traceId("2") })
    expect(texts(turn)).toEqual([
      ["agent_start", "helper", null],
      ["agent_start", "researcher", null],
      ["user_message", "User", "Search the web"],
      ["assistant_message", "researcher", "Nothing found."],
      ["user_message", "User", "Thanks!"],
      ["assistant_message", "helper", "You are welcome."],
    ])
    expect(turn.messages[1]).toMatchObject({
      status_code: "ERROR",
      status_message: "no network",
      error_type: "TimeoutError",
      agent_start: { status: "ERROR" },
    })
  })

  test("an answer that the agent repeats is shown once; an answer of the agent alone has the usage of all spans below", async () => {
    const repeated = await chatOf([
      {
        trace: "7",
        id: "1",
        at: 0,
        attributes: agent("bot", "1", { "gen_ai.output.messages": JSON.stringify([said("assistant", "Hi")]) }),
      },
      {
        trace: "7",
        id: "2",
        parent: "1",
        at: 1,
        attributes: model([1n, 2n], [said("user", "Hello")], [said("assistant", "Hi")]),
      },
    ])
    expect(texts(repeated).filter(([type]) => type === "assistant_message")).toEqual([
      ["assistant_message", "bot", "Hi"],
    ])
    const only = await chatOf([
      {
        trace: "7",
        id: "1",
        at: 0,
        attributes: agent("bot", "1", {
          "gen_ai.input.messages": JSON.stringify([said("user", "Hello")]),
          "gen_ai.output.messages": JSON.stringify([said("assistant", "Hi")]),
        }),
      },
      { trace: "7", id: "2", parent: "1", at: 1, attributes: model([1n, 2n], [], []) },
      { trace: "7", id: "3", parent: "1", at: 2, attributes: model([10n, 20n], [], []) },
    ])
    expect(texts(only)).toEqual([
      ["user_message", "User", "Hello"],
      ["agent_start", "bot", null],
      ["assistant_message", "bot", "Hi"],
    ])
    expect(only.messages[2]?.assistant_message).toMatchObject({ input_tokens: 11, output_tokens: 22 })
  })

  test("instructions are shown once, on their agent, and a new context is marked", async () => {
    const instructions = { "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: "Be kind." }]) }
    const turn = await chatOf([
      {
        trace: "7",
        id: "1",
        at: 0,
        takes: 9,
        attributes: agent("bot", "1", { "weave.compaction.summary": "so far", "weave.compaction.items_before": 9n }),
      },
      {
        trace: "7",
        id: "2",
        parent: "1",
        at: 1,
        attributes: model([1n, 1n], [said("user", "A")], [said("assistant", "B")], instructions),
      },
      {
        trace: "7",
        id: "3",
        parent: "1",
        at: 3,
        attributes: model([1n, 1n], [said("user", "C")], [said("assistant", "D")], instructions),
      },
    ])
    expect(texts(turn).map(([type, , text]) => [type, text])).toEqual([
      ["agent_start", null],
      ["context_compacted", "so far"],
      ["user_message", "A"],
      ["assistant_message", "B"],
      ["user_message", "C"],
      ["assistant_message", "D"],
    ])
    expect(turn.messages[0]?.agent_start).toMatchObject({ system_instructions: "Be kind.", model: "model-a" })
    expect(turn.messages[1]?.context_compacted).toMatchObject({
      compaction_items_before: 9,
      compaction_items_after: null,
    })
  })

  test("tool calls that a model asked for and nobody made are shown on request", async () => {
    const call = { role: "assistant", parts: [{ type: "tool_call", id: "x", name: "search", arguments: { q: 1 } }] }
    const result = { role: "tool", parts: [{ type: "tool_call_response", id: "x", response: "found" }] }
    const spans = [
      { trace: "7", id: "2", at: 1, attributes: model([1n, 1n], [said("user", "A")], [call]) },
      {
        trace: "7",
        id: "3",
        at: 3,
        attributes: model([1n, 1n], [said("user", "A"), call, result], [said("assistant", "D")]),
      },
    ]
    expect((await chatOf(spans)).messages.map(({ type }) => type)).toEqual(["user_message", "assistant_message"])
    const wanted = await chatOf(spans, { include_model_tool_calls: true })
    expect(wanted.messages[1]).toMatchObject({
      type: "tool_call",
      tool_call: { tool_name: "search", tool_arguments: '{"q":1}', tool_result: "found" },
    })
  })

  test("a tool's span without the id of its call is the call of its name that the model asked for", async () => {
    const asks = (id: string) => ({ type: "tool_call", id, name: "search", arguments: "{}" })
    const tool = {
      "openinference.span.kind": "TOOL",
      "tool.name": "search",
      "input.value": "{}",
      "output.value": "found",
    }
    const answer = { role: "assistant", parts: [asks("x"), asks("y")] }
    const spans = [
      { trace: "7", id: "1", at: 0, takes: 9, attributes: agent("helper", "1") },
      { trace: "7", id: "2", parent: "1", at: 1, attributes: model([1n, 1n], [said("user", "A")], [answer]) },
      { trace: "7", id: "3", parent: "1", at: 3, attributes: tool },
    ]
    const { messages } = await chatOf(spans, { include_model_tool_calls: true })
    expect(
      messages.flatMap(({ span_id, tool_call }) => (tool_call === null ? [] : [[span_id, tool_call.tool_result]])),
    ).toEqual([
      [spanId("2"), null],
      [spanId("3"), "found"],
    ])
  })

  test("instructions that are sent as a message are the agent's too", async () => {
    const told = [said("system", "Be kind."), said("user", "A")]
    const turn = await chatOf([
      { trace: "7", id: "1", at: 0, takes: 9, attributes: agent("helper", "1") },
      { trace: "7", id: "2", parent: "1", at: 1, attributes: model([1n, 1n], told, [said("assistant", "B")]) },
    ])
    expect(turn.messages.map(({ type }) => type)).toEqual(["user_message", "agent_start", "assistant_message"])
    expect(turn.messages[1]?.agent_start?.system_instructions).toBe("Be kind.")
  })

  test("law 3: the arguments of a model's tool call keep the spelling of their numbers", async () => {
    const asked =
      '[{"role":"assistant","parts":[{"type":"tool_call","name":"f","arguments":{"q":[1.0,9007199254740993]}}]}]'
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.output.messages": asked }
    const turn = await chatOf([{ trace: "7", id: "1", at: 1, attributes }], { include_model_tool_calls: true })
    expect(turn.messages[0]?.tool_call?.tool_arguments).toBe('{"q":[1.0,9007199254740993]}')
  })

  test("spans in a circle, without their parent, and of a trace that is not there", async () => {
    const circle = await chatOf([
      { trace: "7", id: "1", parent: "2", at: 1, attributes: model([1n, 1n], [said("user", "A")], []) },
      { trace: "7", id: "2", parent: "1", at: 2, attributes: model([1n, 1n], [said("user", "B")], []) },
      { trace: "7", id: "3", parent: "99", at: 3, attributes: model([1n, 1n], [said("user", "C")], []) },
    ])
    expect(circle.messages.map(({ user_message }) => user_message?.text)).toEqual(["A", "B", "C"])
    expect(await chat({ trace_id: "absent" })).toMatchObject({
      messages: [],
      root_span_name: null,
      total_cost_usd: null,
    })
  })

  test("content that messages show, by the refs of the span", async () => {
    const ref = "weave:///acme/talks/object/Content:abc123"
    const turn = await chatOf([
      {
        trace: "7",
        id: "1",
        at: 0,
        attributes: model(
          [1n, 1n],
          [{ role: "user", parts: [{ type: "uri", modality: "image", uri: ref }] }],
          [said("assistant", "A cat.")],
          { "weave.content_refs": JSON.stringify([ref, "weave:///acme/talks/object/Content:other"]) },
        ),
      },
    ])
    expect(turn.messages[0]?.user_message).toEqual({ text: "", content_refs: [ref] })
    expect(turn.messages[1]?.assistant_message?.content_refs).toEqual([])
  })
})

describe("calls 10: conversations/chat", () => {
  const conversation = async (fields: object) =>
    conversationChat.strict().parse(await ask("/agents/conversations/chat", { conversation_id: "c1", ...fields }))

  test("its turns as they came, with what they cost", async () => {
    const { turns, ...rest } = await conversation({})
    expect(turns.map((turn) => [turn.trace_id, turn.messages.length])).toEqual([
      [traceId("1"), 5],
      [traceId("2"), 6],
    ])
    expect(rest).toEqual({
      conversation_id: "c1",
      total_turns: 2,
      has_more: false,
      limit: 50,
      offset: 0,
      total_cost_usd: expect.closeTo(3.85, 9),
      feedback: null,
    })
  })

  test("pages go back from the last turn", async () => {
    const last = await conversation({ limit: 1 })
    expect(last).toMatchObject({ turns: [{ trace_id: traceId("2") }], total_turns: 2, has_more: true })
    const first = await conversation({ limit: 1, offset: 1 })
    expect(first).toMatchObject({ turns: [{ trace_id: traceId("1") }], has_more: false })
    expect(await conversation({ limit: 0 })).toMatchObject({ turns: [], total_turns: 2, has_more: true })
    expect(await conversation({ conversation_id: "none" })).toMatchObject({
      turns: [],
      total_turns: 0,
      has_more: false,
    })
  })

  test("feedback on the conversation, its turns and its spans", async () => {
    const ref = (target: string) => `weave:///${project}/${target}`
    const give = async (target: string, emoji: string) => {
      const answer = await opened.acme.post("/feedback/create", {
        project_id: project,
        weave_ref: ref(target),
        feedback_type: "wandb.reaction.1",
        payload: { emoji },
      })
      expect(answer.status, answer.text).toBe(200)
    }
    await give("agent_conversation/c1", "👍")
    await give(`agent_turn/${traceId("1")}`, "👎")
    await give(`agent_span/${spanId("d1")}`, "🎉")
    const { feedback, turns } = await conversation({ include_feedback: true })
    expect(feedback).toMatchObject([
      { weave_ref: ref("agent_conversation/c1"), payload: { emoji: "👍" }, scorer_tags: [] },
    ])
    expect(turns.map((turn) => turn.feedback?.length)).toEqual([1, 0])
    expect(turns[0]?.messages.at(-1)?.feedback).toMatchObject([{ payload: { emoji: "🎉" } }])
    expect((await chat({ trace_id: traceId("1"), include_feedback: true })).feedback).toMatchObject([
      { payload: { emoji: "👎" } },
    ])
  })
})

describe("calls 10: conversations/spans", () => {
  const spans = async (fields: object) =>
    conversationSpans.strict().parse(await ask("/agents/conversations/spans", fields)).conversations

  test("each conversation that is asked for, in that order", async () => {
    const [c2, none, c1] = await spans({ conversation_ids: ["c2", "none", "c1", "c2"] })
    expect(c2?.spans).toEqual([
      { operation_name: "chat", trace_id: traceId("3"), span_id: spanId("f3"), status: "UNSET", duration_ms: 250 },
    ])
    expect(none).toEqual({ conversation_id: "none", spans: [], spans_feedback: [] })
    expect(c1?.spans.map(({ span_id, status }) => [span_id.slice(-2), status])).toEqual([
      ["a1", "UNSET"],
      ["b1", "UNSET"],
      ["c1", "UNSET"],
      ["d1", "UNSET"],
      ["a2", "UNSET"],
      ["e2", "ERROR"],
      ["b2", "UNSET"],
      ["d2", "UNSET"],
    ])
    const [late] = await spans({ conversation_ids: ["c1"], started_after: "2026-03-01T10:01:05Z" })
    expect(late?.spans).toHaveLength(1)
    expect(await spans({})).toEqual([])
  })

  test("with tags and ratings of the conversation and of its turns", async () => {
    const own = opened.acme.newProject()
    await sendWorld(opened.acme, own)
    const feedback = (target: string, more: object) => ({
      project_id: own,
      weave_ref: `weave:///${own}/${target}`,
      feedback_type: "wandb.agent_user_feedback",
      payload: {},
      ...more,
    })
    const batch = [
      feedback("agent_conversation/c1", {
        scorer_tags: ["good"],
        scorer_ratings: { fit: 0.5, constructor: 1 },
        scorer_rating_reasons: { fit: "ok" },
      }),
      feedback(`agent_turn/${traceId("2")}`, { scorer_tags: ["slow"], span_conversation_id: "c1" }),
    ]
    const answer = await opened.acme.post("/feedback/batch/create", { batch })
    expect(answer.status, answer.text).toBe(200)
    const [c1] = await spans({ project_id: own, conversation_ids: ["c1"] })
    expect(c1?.spans_feedback).toEqual([
      {
        trace_id: null,
        feedback_type: "wandb.agent_user_feedback",
        tags: ["good"],
        ratings: [
          { name: "fit", value: 0.5, reason: "ok", confidence: null },
          { name: "constructor", value: 1, reason: null, confidence: null },
        ],
      },
      { trace_id: traceId("2"), feedback_type: "wandb.agent_user_feedback", tags: ["slow"], ratings: [] },
    ])
  })
})

describe("calls 10: search", () => {
  const search = async (fields: object) => agentSearchAnswer.strict().parse(await ask("/agents/search", fields))
  const found = async (fields: object) =>
    (await search(fields)).results.flatMap(({ conversation_id, matched_messages }) =>
      matched_messages.map(({ role, span_id }) => [conversation_id, role, span_id.slice(-2)]),
    )

  test("a text that a conversation repeats is found once, at its last occurrence", async () => {
    const { results, total_conversations } = await search({ query: "order" })
    expect(total_conversations).toBe(1)
    expect(results).toEqual([
      {
        conversation_id: "c1",
        conversation_name: "",
        agent_name: "helper",
        last_activity: "2026-03-01T10:01:06.000000Z",
        matched_messages: [
          {
            span_id: spanId("d2"),
            trace_id: traceId("2"),
            role: "user",
            content_preview: '[{"type":"text","content":"Where is my order?"}]',
            content_digest: expect.stringMatching(/^[0-9a-f]{32}$/),
            started_at: "2026-03-01T10:01:06.000000Z",
          },
        ],
      },
    ])
  })

  test.each<[object, unknown[][]]>([
    [{ query: "MY ORDER" }, [["c1", "user", "d2"]]],
    [{ query: "order where" }, []],
    [{ query: '{"id":1}', roles: ["tool_call"] }, [["c1", "tool_call", "c1"]]],
    [{ query: "100%" }, []],
    [{ query: "shipped", roles: ["tool_result"] }, [["c1", "tool_result", "c1"]]],
    [{ query: "id", roles: ["tool_call"] }, [["c1", "tool_call", "c1"]]],
    [
      { query: "shipped", roles: ["tool"] },
      [
        ["c1", "tool", "d1"],
        ["c1", "tool_result", "c1"],
      ],
    ],
    [{ query: "roses" }, [["c2", "assistant", "f3"]]],
    [{ query: "o", conversation_id: "c2", roles: ["user"] }, [["c2", "user", "f3"]]],
    [{ query: "e", agent_name: "writer", roles: ["assistant"] }, [["c2", "assistant", "f3"]]],
    [{ query: "found", trace_id: traceId("2") }, [["c1", "assistant", "b2"]]],
    [{ query: "found", trace_id: traceId("1") }, []],
    [{ query: "poem", request_model: "unpriced", provider_name: "openai" }, [["c2", "user", "f3"]]],
    [{ query: "poem", provider_name: "other" }, []],
    [{ query: "poem", started_before: "2026-03-01T10:01:00Z" }, []],
    [{ query: "welcome", limit: 0 }, []],
  ])("%j", async (fields, expected) => {
    expect(await found(fields)).toEqual(expected)
  })

  test("without words every message, in pages; long ones shortened", async () => {
    const all = await found({ conversation_id: "c1", roles: ["user"], limit: 100 })
    expect(all).toHaveLength(5)
    expect(await found({ conversation_id: "c1", roles: ["user"], limit: 2, offset: 1 })).toEqual(all.slice(1, 3))
    const quoted = opened.acme.newProject()
    await sendSpans(opened.acme, quoted, {
      trace: "1",
      id: "1",
      at: 0,
      attributes: model([1n, 1n], [said("user", 'Say "é\n"')], []),
    })
    expect(await found({ project_id: quoted, query: 'say "É\n"' })).toHaveLength(1)
    const own = opened.acme.newProject()
    const long = "é".repeat(600)
    await sendSpans(opened.acme, own, {
      trace: "1",
      id: "1",
      at: 0,
      attributes: model([1n, 1n], [{ role: "user", content: long }], []),
    })
    const short = await search({ project_id: own, query: "éé" })
    expect(short.results[0]?.conversation_id).toBe("__NO_CONVERSATION__")
    expect(short.results[0]?.matched_messages[0]?.content_preview).toBe("é".repeat(500))
    const whole = await search({ project_id: own, query: "éé", truncate_content: false })
    expect(whole.results[0]?.matched_messages[0]?.content_preview).toBe(long)
  })
})
