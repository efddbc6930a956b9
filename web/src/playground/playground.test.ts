import { describe, expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { AnswerCollector, forkAt, tokensPerSecond } from "./answer-collector.ts"
import { blindOrder, orderOf, votesOf, withStoredVerdicts, withVerdicts } from "./blind.ts"
import { completionBody, parameterProblem, schemaProblem, toolsProblem } from "./completion-body.ts"
import {
  type Answer,
  type Column,
  type Conversation,
  conversationOf,
  openToolCalls,
  smallOf,
  withColumn,
  withModels,
} from "./conversation.ts"
import { rowOf } from "./dataset-row.ts"
import { recordedChat } from "./recorded-chat.ts"
import { keepConversation, keptConversation } from "./stored-conversations.ts"

const answer = (more: Partial<Answer> = {}): Answer => ({
  state: "done",
  model: "a",
  callId: null,
  traceId: null,
  reasoning: "",
  tokens: [],
  finish: "stop",
  usage: null,
  firstTokenMs: null,
  totalMs: null,
  failure: null,
  ...more,
})

const said = (text: string, more: Partial<Answer> = {}) => ({ role: "assistant", text, answer: answer(more) })
const column = (model: string, callId: string | null): Column => ({
  model,
  turns: [said(`of ${model}`, { model, callId })],
})

describe("what is asked", () => {
  test("tools, schemas and seeds go as they were written", () => {
    const body = completionBody({
      projectId: "e/p",
      conversationId: "c1",
      model: "m@3",
      turns: [
        { role: "user", text: "2+2?" },
        { role: "assistant", text: "", toolCalls: [{ id: "c", name: "add", arguments: '{"a":2}' }] },
        { role: "tool", text: "4", toolCallId: "c" },
      ],
      tools: '[{"type":"function","function":{"name":"add","parameters":{"maximum":12345678901234567890}}}]',
      schema: '{"type":"number","maximum":1.0}',
      parameters: { temperature: "0.70", seed: "12345678901234567890", stop: ["\n"] },
    })
    expect(body).toContain('"maximum":12345678901234567890')
    expect(body).toContain('"seed":12345678901234567890')
    expect(body).toContain('"temperature":0.70')
    expect(body).toContain('"schema":{"type":"number","maximum":1.0}')
    expect(JSON.parse(body)).toMatchObject({
      project_id: "e/p",
      conversation_id: "c1",
      source: "playground",
      inputs: {
        model: "m@3",
        stop: ["\n"],
        logprobs: true,
        top_logprobs: 5,
        messages: [
          { role: "user", content: "2+2?" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c", type: "function", function: { name: "add", arguments: '{"a":2}' } }],
          },
          { role: "tool", content: "4", tool_call_id: "c" },
        ],
      },
    })
  })

  test("another service is asked for no probabilities", () => {
    const request = { projectId: "e/p", conversationId: "c", turns: [], tools: "", schema: "", parameters: {} }
    expect(completionBody({ ...request, model: "custom::agent::v1" })).not.toContain("logprobs")
  })

  test.each([
    ["temperature", "2.1", "Temperature is a number from 0 to 2, not “2.1”."],
    ["temperature", "0,5", "Temperature is a number from 0 to 2, not “0,5”."],
    ["top_p", "0", "Top p is a number above 0, up to 1, not “0”."],
    ["max_tokens", "0", "Max tokens is a whole number from 1, not “0”."],
    ["seed", "1.5", "Seed is a whole number, not “1.5”."],
    ["seed", "-9", null],
    ["temperature", "", null],
    ["temperature", "1e-05", null],
    ["temperature", "00.5", "Temperature is a number from 0 to 2, not “00.5”."],
    ["seed", "007", "Seed is a whole number, not “007”."],
  ] as const)("%s %j: %s", (name, text, problem) => expect(parameterProblem(name, text)).toBe(problem))

  test("tools and schemas that are none say so", () => {
    expect(toolsProblem("[{]")).toMatch(/^This is no JSON: /)
    expect(toolsProblem("{}")).toMatch(/^Tools are a list/)
    expect(toolsProblem('[{"type":"function"}]')).toMatch(/^Tool 1 has no name/)
    expect(toolsProblem('[{"type":"function","function":{"name":"a"}}]')).toBeNull()
    expect(schemaProblem("[1]")).toMatch(/^A schema is an object/)
    expect(schemaProblem('{"type":"object"}')).toBeNull()
  })
})

describe("what is answered", () => {
  const token = (text: string, logprob: number, bytes = [...new TextEncoder().encode(text)]) => ({
    token: text,
    logprob,
    bytes,
    top_logprobs: [{ token: text, logprob }],
  })

  test("chunks add up to a turn with its tokens, times and figures", () => {
    const collector = new AnswerCollector("m", 100)
    collector.add({ _meta: { weave_call_id: "call", trace_id: "trace" } }, 101)
    collector.add({ choices: [{ delta: { content: "" } }] }, 102)
    collector.add({ choices: [{ delta: { content: "Y" }, logprobs: { content: [token("Y", -0.5)] } }] }, 130)
    // One character in two tokens: its text comes with the second.
    const [first = 0, ...rest] = new TextEncoder().encode("é")
    collector.add({ choices: [{ delta: {}, logprobs: { content: [token("\ufffd", -1, [first])] } }] }, 135)
    collector.add({ choices: [{ delta: { content: "é" }, logprobs: { content: [token("\ufffd", -1, rest)] } }] }, 140)
    collector.add({ choices: [{ delta: {}, finish_reason: "stop" }] }, 150)
    collector.add({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }, 150)
    const turn = collector.turn("done", 150)
    expect(turn).toMatchObject({
      role: "assistant",
      text: "Yé",
      answer: {
        callId: "call",
        traceId: "trace",
        finish: "stop",
        usage: { input: 7, cached: 0, output: 3 },
        firstTokenMs: 30,
        totalMs: 50,
      },
    })
    expect(turn.answer?.tokens.map(({ text }) => text)).toEqual(["Y", "", "é"])
    expect(tokensPerSecond(turn.answer as Answer)).toBe(100)
    expect(tokensPerSecond({ ...(turn.answer as Answer), totalMs: 31 })).toBe(null)
  })

  test("calls of tools come in parts", () => {
    const collector = new AnswerCollector("m", 0)
    const part = (index: number, more: object) => ({ choices: [{ delta: { tool_calls: [{ index, ...more }] } }] })
    collector.add(part(0, { id: "c1", function: { name: "look_up", arguments: '{"id"' } }), 1)
    collector.add(part(0, { function: { arguments: ":1}" } }), 2)
    expect(collector.turn("done", 3).toolCalls).toEqual([{ id: "c1", name: "look_up", arguments: '{"id":1}' }])
  })

  test("one that is gone on with begins with what was kept", () => {
    const sampled = [
      { text: "It ", logprob: -0.1, top: [] },
      { text: "is", logprob: -0.2, top: [{ text: "was", logprob: -2 }] },
      { text: " so", logprob: -0.3, top: [] },
    ]
    const tokens = forkAt(sampled, 1, "was")
    expect(tokens.map(({ text, logprob }) => [text, logprob])).toEqual([
      ["It ", -0.1],
      ["was", -2],
    ])
    const collector = new AnswerCollector("m", 0, { text: "It was", tokens })
    collector.add({ choices: [{ delta: { content: " not" } }] }, 5)
    expect(collector.turn("done", 6).text).toBe("It was not")
  })

  test("a tool's call is open until it has a result", () => {
    const calls = [
      { id: "a", name: "x", arguments: "{}" },
      { id: "b", name: "y", arguments: "{}" },
    ]
    const turn = { ...said(""), toolCalls: calls }
    const names = (turns: Column["turns"]) => openToolCalls({ model: "m", turns }).map(({ name }) => name)
    expect(names([turn])).toEqual(["x", "y"])
    expect(names([turn, { role: "tool", text: "1", toolCallId: "a" }])).toEqual(["y"])
    expect(names([turn, { role: "user", text: "never mind" }])).toEqual([])
  })
})

describe("votes", () => {
  const conversation: Conversation = {
    ...conversationOf({ user: "hi" }),
    columns: [column("a", "1"), column("b", "2"), column("c", "3")],
  }

  test("the order has each column once", () => {
    let next = 0
    const numbers = [0.1, 0.9, 0.4]
    expect(blindOrder(4, () => numbers[next++] ?? 0)).toEqual([1, 3, 2, 0])
  })

  test("columns that came after the drawing stand last, those that are away nowhere", () => {
    expect(orderOf(2)).toEqual([0, 1])
    expect(orderOf(4, [1, 0])).toEqual([1, 0, 2, 3])
    expect(orderOf(2, [2, 1, 0])).toEqual([1, 0])
  })

  test("what is stored changes the answers, and nothing that was said since", () => {
    const judged = withVerdicts({ ...conversation, blind: { order: [2, 0, 1], isOpen: false } }, 1) ?? conversation
    const blind = { order: [0, 2, 1], isOpen: false }
    const next = { role: "user", text: "and now?" }
    const verdictsOf = ({ columns }: Conversation) =>
      columns.map(({ turns }) => turns.map(({ answer: one }) => one?.verdict ?? null))
    // One column was told something more.
    const more = { ...withColumn(conversation, 0, [...(conversation.columns[0]?.turns ?? []), next]), blind }
    const after = withStoredVerdicts(more, judged)
    expect(verdictsOf(after)).toEqual([["worse", null], ["better"], ["worse"]])
    expect(after.columns[0]?.turns[1]).toEqual(next)
    expect(after.blind?.isOpen).toBe(true)
    // All were told something more: of the next answers nobody knows yet whose they are.
    const all = {
      ...conversation,
      columns: conversation.columns.map((one) => ({ ...one, turns: [...one.turns, next] })),
      blind,
    }
    expect(verdictsOf(withStoredVerdicts(all, judged))).toEqual([
      ["worse", null],
      ["better", null],
      ["worse", null],
    ])
    expect(withStoredVerdicts(all, judged).blind).toEqual(blind)
  })

  test("each call has how it was judged, and against which", () => {
    const judged = withVerdicts(conversation, 1)
    expect(judged?.blind?.isOpen).toBe(true)
    expect(votesOf(judged ?? conversation, true)).toEqual([
      vote("1", "worse", { under: ["2"] }),
      vote("2", "better", { over: ["1", "3"] }),
      vote("3", "worse", { under: ["2"] }),
    ])
    // Nobody votes twice on the same answers.
    expect(withVerdicts(judged ?? conversation, 0)).toBeNull()
  })

  test("an answer that was put right is not voted on; the others are", () => {
    const three = withColumn(conversation, 0, [said("better", { model: "a", callId: "1", isCorrected: true })])
    expect(withVerdicts(three, 0)).toBeNull()
    expect(votesOf(withVerdicts(three, 1) ?? three, false).map(({ callId }) => callId)).toEqual(["2", "3"])
    const two = { ...three, columns: three.columns.slice(0, 2) }
    expect(withVerdicts(two, null)).toBeNull()
  })

  test("no difference is a vote, too", () => {
    const two = { ...conversation, columns: conversation.columns.slice(0, 2) }
    expect(votesOf(withVerdicts(two, null) ?? two, false)).toEqual([
      { callId: "1", payload: { ...plain, value: "equal", is_blind: false, equal: ["2"], models: ["a", "b"] } },
      { callId: "2", payload: { ...plain, value: "equal", is_blind: false, equal: ["1"], models: ["a", "b"] } },
    ])
  })

  test("an answer that is not recorded, failed or comes still cannot be judged", () => {
    const of = (...columns: Column[]) => withVerdicts({ ...conversation, columns }, 0)
    expect(of(column("a", "1"), column("b", null))).toBeNull()
    expect(of(column("a", "1"), { model: "b", turns: [said("", { callId: "2", state: "failed" })] })).toBeNull()
    expect(of(column("a", "1"), { model: "b", turns: [said("", { callId: "2", state: "running" })] })).toBeNull()
  })

  const plain = { over: [], under: [], equal: [] }
  const vote = (callId: string, value: string, more: object) => ({
    callId,
    payload: { ...plain, value, is_blind: true, models: ["a", "b", "c"], ...more },
  })
})

describe("a recorded call", () => {
  const read = (inputs: unknown, output: unknown = null) =>
    recordedChat(JSON.stringify(inputs) as JsonText, JSON.stringify(output) as JsonText)

  test("of OpenAI's form, with parameters as they were written", () => {
    const inputs = `{"model":"heddle/tiny","temperature":0.70,"seed":12345678901234567890,"max_completion_tokens":5,
      "tools":[{"type":"function","function":{"name":"f","parameters":{"maximum":1.0}}}],
      "response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"maximum":1.0}}},
      "messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}`
    const output = { choices: [{ message: { role: "assistant", content: "b" } }] }
    expect(recordedChat(inputs as JsonText, JSON.stringify(output) as JsonText)).toEqual({
      model: "heddle/tiny",
      prompt: [{ role: "user", text: "a" }],
      tools: '[\n  {"type":"function","function":{"name":"f","parameters":{"maximum":1.0}}}\n]',
      schema: '{"maximum":1.0}',
      parameters: {
        temperature: "0.70",
        top_p: undefined,
        max_tokens: "5",
        seed: "12345678901234567890",
        stop: undefined,
      },
      answer: { role: "assistant", text: "b" },
      leftOut: ["image"],
    })
  })

  test("of Anthropic's form: its instructions, tools, uses and results", () => {
    const chat = read(
      {
        model: "claude",
        system: "Be brief.",
        stop_sequences: ["END"],
        tools: [{ name: "look_up", description: "d", input_schema: { type: "object" } }],
        messages: [
          { role: "user", content: "Where is it?" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look_up", input: { id: 1 } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "in Bremen" }] },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "In Bremen." }] },
    )
    expect(chat).toMatchObject({
      prompt: [
        { role: "system", text: "Be brief." },
        { role: "user", text: "Where is it?" },
        { role: "assistant", text: "", toolCalls: [{ id: "t1", name: "look_up", arguments: '{"id":1}' }] },
        { role: "tool", text: "in Bremen", toolCallId: "t1" },
      ],
      parameters: { stop: ["END"] },
      answer: { text: "In Bremen." },
    })
    expect(JSON.parse(chat?.tools ?? "")).toEqual([
      { type: "function", function: { name: "look_up", description: "d", parameters: { type: "object" } } },
    ])
  })

  test("instructions in parts are sent as one text, and parts that are none are named", () => {
    const chat = read({
      system: [
        { type: "text", text: "You answer for a shop. " },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
        { type: "image" },
      ],
      messages: [{ role: "user", content: "Where is it?" }],
    })
    expect(chat?.prompt[0]).toEqual({ role: "system", text: "You answer for a shop. Be brief." })
    expect(chat?.leftOut).toEqual(["image"])
    expect(read({ system: null, instructions: "a", messages: [{ role: "user", content: "b" }] })?.prompt).toHaveLength(
      2,
    )
  })

  test("of the Responses API", () => {
    const input = [
      { role: "user", content: "a" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "1" },
    ]
    expect(
      read(
        { input },
        { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "b" }] }] },
      ),
    ).toMatchObject({
      prompt: [
        { role: "user", text: "a" },
        { role: "assistant", toolCalls: [{ id: "c", name: "f", arguments: "{}" }] },
        { role: "tool", text: "1", toolCallId: "c" },
      ],
      answer: { text: "b" },
    })
  })

  test.each([
    [
      { self: {}, model: "m", input: "4+5=", max_output_tokens: 8 },
      {
        responses: [
          { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "9" }] }] },
        ],
      },
    ],
    [
      { self: {}, arg0: { model: "m", max_tokens: 8, messages: [{ role: "user", content: "4+5=" }] } },
      {
        messages: [
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "" },
              { type: "thinking_delta", thinking: "?" },
              { type: "text", text: "" },
              { type: "text_delta", text: "9" },
            ],
          },
        ],
      },
    ],
  ])("as npm weave stores a stream: %j", (inputs, output) => {
    expect(read(inputs, output)).toMatchObject({
      prompt: [{ role: "user", text: "4+5=" }],
      model: "m",
      parameters: { max_tokens: "8" },
      answer: { role: "assistant", text: "9" },
      leftOut: [],
    })
  })

  test("of OpenTelemetry's and OpenInference's spans", () => {
    const call = { type: "tool_call", id: "c", name: "look", arguments: { digit: 4 } }
    const asked = [
      { role: "user", parts: [{ type: "text", content: "a" }] },
      { role: "assistant", parts: [call] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "four" }] },
    ]
    const answered = [{ role: "assistant", parts: [{ type: "text", content: "b" }] }]
    expect(read({ "gen_ai.input.messages": asked }, { "gen_ai.output.messages": answered })).toMatchObject({
      prompt: [
        { role: "user", text: "a" },
        { role: "assistant", toolCalls: [{ id: "c", name: "look", arguments: '{"digit":4}' }] },
        { role: "tool", text: "four", toolCallId: "c" },
      ],
      answer: { text: "b" },
      leftOut: [],
    })
    const output = { "output.value": { choices: [{ message: { role: "assistant", content: "b" } }] } }
    expect(read({ "input.value": { model: "m", messages: [{ role: "user", content: "a" }] } }, output)).toMatchObject({
      model: "m",
      prompt: [{ role: "user", text: "a" }],
      answer: { text: "b" },
    })
  })

  test("arguments of a tool in pieces", () => {
    const content = [
      { type: "tool_use", id: "t", name: "look", input: {} },
      { type: "input_json_delta", partial_json: '{"n"' },
      { type: "input_json_delta", partial_json: ": 4}" },
    ]
    const chat = read(
      { arg0: { messages: [{ role: "user", content: "x" }] } },
      { messages: [{ role: "assistant", content }] },
    )
    expect(chat?.answer?.toolCalls).toEqual([{ id: "t", name: "look", arguments: '{"n": 4}' }])
  })

  test("wrapped, and no chat at all", () => {
    expect(read({ kwargs: { messages: [{ role: "user", content: "a" }] } })?.prompt).toEqual([
      { role: "user", text: "a" },
    ])
    expect(read({ order_id: 1 })).toBeNull()
    expect(read({ messages: [] })).toBeNull()
  })
})

describe("where it is kept", () => {
  test("a question with instructions goes into an address, more does not", () => {
    const small = { system: "Be brief.", user: "2+2?" }
    expect(smallOf(conversationOf(small))).toEqual(small)
    expect(smallOf(conversationOf({ user: "x".repeat(1501) }))).toBeNull()
    expect(smallOf({ ...conversationOf(small), tools: "[]" })).toBeNull()
    expect(smallOf({ ...conversationOf(small), columns: [column("a", "1")] })).toBeNull()
    expect(
      smallOf({
        ...conversationOf(small),
        prompt: [
          { role: "user", text: "a" },
          { role: "assistant", text: "b" },
        ],
      }),
    ).toBeNull()
  })

  test("a column keeps what was said as long as its model stays", () => {
    const columns = [column("a", "1"), column("b", "2")]
    expect(withModels(columns, ["a", "c"])).toEqual([columns[0], { model: "c", turns: [] }])
  })

  const storage = (room: number) => {
    const items = new Map<string, string>()
    return {
      items,
      getItem: (key: string) => items.get(key) ?? null,
      removeItem: (key: string) => void items.delete(key),
      setItem: (key: string, value: string) => {
        const others = [...items].filter(([name]) => name !== key).reduce((sum, [, text]) => sum + text.length, 0)
        if (others + value.length > room) throw new DOMException("full", "QuotaExceededError")
        items.set(key, value)
      },
    }
  }
  const kept: Conversation = { ...conversationOf({ user: "hi" }), columns: [column("a", "1")] }

  test("what ran when the page was left has stopped", () => {
    const store = storage(100_000)
    const running = { ...kept, columns: [{ model: "a", turns: [said("so f", { state: "running" })] }] }
    expect(keepConversation(store, "x", running)).toBe(true)
    expect(keptConversation(store, "x")?.columns[0]?.turns[0]?.answer?.state).toBe("stopped")
    expect(keptConversation(store, "y")).toBeNull()
  })

  test("older ones make room, and after them the probabilities of tokens", () => {
    const tokens = Array.from({ length: 40 }, () => ({ text: "a", logprob: -1, top: [] }))
    const large = { ...kept, columns: [{ model: "a", turns: [said("a".repeat(40), { tokens })] }] }
    const store = storage(1_400)
    expect(keepConversation(store, "old", kept)).toBe(true)
    expect(keepConversation(store, "new", large)).toBe(true)
    expect(keptConversation(store, "old")).toBeNull()
    expect(keptConversation(store, "new")?.columns[0]?.turns[0]).toMatchObject({
      text: "a".repeat(40),
      answer: { tokens: [] },
    })
    expect(keepConversation(storage(100), "new", large)).toBe(false)
  })
})

describe("a row of a dataset", () => {
  const prompt = [{ role: "user", text: "2+2?" }]
  test("a dialogue that SFT trains on, with the tools as they were written", () => {
    const row = rowOf("dialogue", { prompt, answer: said("4"), tools: '[{"maximum": 1.0}]' })
    expect(row).toContain('"maximum": 1.0')
    expect(JSON.parse(row)).toEqual({
      messages: [
        { role: "user", content: "2+2?" },
        { role: "assistant", content: "4" },
      ],
      tools: [{ maximum: 1 }],
    })
  })
  test("a question with what is expected", () =>
    expect(JSON.parse(rowOf("question", { prompt, answer: said("4"), tools: "" }))).toEqual({
      messages: [{ role: "user", content: "2+2?" }],
      expected: "4",
    }))
})
