import { expect, test } from "vitest"
import { type MapResult, mapRowsTask, type RowExtra } from "./map-rows-task.ts"
import { rowPlan } from "./row-plan.ts"

const source = { kind: "calls" as const, project_id: "e/p" }
const sft = rowPlan({ source, target: { kind: "sft" } })

interface Call {
  inputs: unknown
  output: unknown
  attributes?: unknown
}

async function mapped(calls: readonly Call[], plan = sft, extras: Record<string, RowExtra> | null = null) {
  const lines = calls.map(({ inputs, output, attributes = {} }, n) =>
    JSON.stringify([[String(n), null, "1"], inputs, output, attributes]),
  )
  const input = {
    lines: Buffer.from(lines.join("\n")),
    plan,
    extras,
    wantsText: true,
    longBytes: Infinity,
    previews: 0,
  }
  const step = await mapRowsTask.run(input).next()
  const result: MapResult = step.value
  let at = 0
  const rows = result.rows.map(({ bytes }) => JSON.parse(result.text.toString("utf8", at, (at += bytes))) as object)
  return { ...result, rows }
}

const row = async (call: Call) => (await mapped([call])).rows[0]
const user = (content: string) => ({ role: "user", content })
const assistant = (content: string) => ({ role: "assistant", content })

test("chat completions, with tools and their results", async () => {
  const call = { id: "1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }
  const messages = [
    { role: "developer", content: "be kind" },
    { role: "user", content: [{ type: "text", text: "Oslo?" }] },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "1", content: "sun" },
  ]
  const tools = [{ type: "function", function: { name: "weather", parameters: {} } }]
  const output = { choices: [{ index: 0, message: { role: "assistant", content: "Sunny." } }] }
  expect(await row({ inputs: { model: "m", messages, tools }, output })).toEqual({
    messages: [
      { role: "system", content: "be kind" },
      user("Oslo?"),
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", content: "sun", tool_call_id: "1" },
      assistant("Sunny."),
    ],
    tools,
  })
})

test("Responses: instructions, items, and calls of tools that are items of their own", async () => {
  const input = [
    { role: "user", content: [{ type: "input_text", text: "Oslo?" }] },
    { type: "function_call", call_id: "1", name: "weather", arguments: "{}" },
    { type: "function_call_output", call_id: "1", output: "sun" },
  ]
  const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Sunny." }] }
  const tool = { type: "function", name: "weather", parameters: { type: "object" } }
  expect(
    await row({
      inputs: { input, instructions: "be kind", tools: [tool] },
      output: { output: [{ type: "reasoning" }, said] },
    }),
  ).toEqual({
    messages: [
      { role: "system", content: "be kind" },
      user("Oslo?"),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "weather", arguments: "{}" } }],
      },
      { role: "tool", content: "sun", tool_call_id: "1" },
      assistant("Sunny."),
    ],
    tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
  })
})

test("Messages: system, blocks, and results of tools that the user sends", async () => {
  const messages = [
    user("Oslo?"),
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "1", name: "weather", input: { city: "Oslo" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "sun" }] }] },
  ]
  const tools = [{ name: "weather", description: "d", input_schema: { type: "object" } }]
  const output = {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "?" },
      { type: "text", text: "Sunny." },
    ],
  }
  const call = { id: "1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }
  expect(await row({ inputs: { system: "be kind", messages, tools }, output })).toEqual({
    messages: [
      { role: "system", content: "be kind" },
      user("Oslo?"),
      { role: "assistant", content: "I look.", tool_calls: [call] },
      { role: "tool", content: "sun", tool_call_id: "1" },
      assistant("Sunny."),
    ],
    tools: [{ type: "function", function: { name: "weather", description: "d", parameters: { type: "object" } } }],
  })
})

test("Messages that npm weave traced: a client beside its argument, and a stream in pieces", async () => {
  const tools = [{ name: "weather", input_schema: { type: "object" } }]
  const arg0 = { model: "m", system: "be kind", messages: [user("Oslo?")], tools, stream: true }
  const content = [
    { type: "thinking", thinking: "" },
    { type: "thinking_delta", thinking: "?" },
    { type: "signature_delta", signature: "x" },
    { type: "text", text: "" },
    { type: "text_delta", text: "I " },
    { type: "text_delta", text: "look." },
    { type: "tool_use", id: "1", name: "weather", input: {} },
    { type: "input_json_delta", partial_json: '{"city":' },
    { type: "input_json_delta", partial_json: '"Oslo"}' },
  ]
  const call = { id: "1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }
  const inputs = { self: { baseURL: "https://x", apiKey: "***" }, arg0 }
  expect(await row({ inputs, output: { messages: [{ role: "assistant", content }] } })).toEqual({
    messages: [
      { role: "system", content: "be kind" },
      user("Oslo?"),
      { role: "assistant", content: "I look.", tool_calls: [call] },
    ],
    tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
  })
})

test("Messages that npm weave traced: a call without arguments, whose only piece is empty", async () => {
  const content = [
    { type: "tool_use", id: "1", name: "now", input: {} },
    { type: "input_json_delta", partial_json: "" },
  ]
  const call = { inputs: { messages: [user("Time?")] }, output: { messages: [{ role: "assistant", content }] } }
  expect(await row(call)).toMatchObject({ messages: [{}, { tool_calls: [{ function: { arguments: "{}" } }] }] })
})

test("a ref is neither question nor answer", async () => {
  const ref = "weave:///e/p/object/d:a1/attr/rows/id/b2"
  const answers = ["a", "b", ref]
  const inputs = [{ datasetRow: ref }, { question: ref }, { question: "x" }]
  const { rows, dropped } = await mapped(answers.map((output, n) => ({ inputs: inputs[n], output })))
  expect([rows, dropped.map(({ cause }) => cause)]).toEqual([[], ["no_messages", "no_messages", "no_answer"]])
})

test.each<[string, Call]>([
  [
    "parts",
    {
      inputs: { "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "hey" }] }] },
      output: {
        "gen_ai.output.messages": [
          { role: "assistant", parts: [{ type: "text", content: "yo" }], finish_reason: "stop" },
        ],
      },
    },
  ],
  [
    "texts of JSON",
    {
      inputs: { "gen_ai.input.messages": '[{"role":"user","content":"hey"}]' },
      output: { "gen_ai.output.messages": '[{"role":"assistant","content":"yo"}]' },
    },
  ],
  [
    "numbered attributes",
    {
      inputs: { "gen_ai.prompt": [user("hey")] },
      output: { "gen_ai.completion": [assistant("yo")] },
      attributes: { system: "openai" },
    },
  ],
  [
    "OpenInference",
    {
      inputs: { "llm.input_messages": [{ message: user("hey") }] },
      output: { "llm.output_messages": [{ message: assistant("yo") }] },
    },
  ],
  [
    "values",
    { inputs: { "input.value": '{"messages":[{"role":"user","content":"hey"}]}' }, output: { "output.value": "yo" } },
  ],
  ["a function of one text", { inputs: { self: "weave:///e/p/object/M:1", question: "hey" }, output: "yo" }],
  ["a function of a chat", { inputs: { messages: [user("hey")] }, output: assistant("yo") }],
  ["an answer with a name", { inputs: { whatever: "hey" }, output: { answer: "yo" } }],
])("%s", async (_, call) => {
  expect(await row(call)).toEqual({ messages: [user("hey"), assistant("yo")] })
})

test.each<[string, Call]>([
  ["an argument that is an object", { inputs: { arg0: { question: "Oslo?" } }, output: "Sunny." }],
  ["a row of an evaluation", { inputs: { arg0: { datasetRow: { question: "Oslo?", n: 1 } } }, output: "Sunny." }],
  [
    "a stream of Responses",
    {
      inputs: { self: {}, model: "m", input: "Oslo?" },
      output: {
        responses: [{ text: {}, output: [{ role: "assistant", content: [{ type: "output_text", text: "Sunny." }] }] }],
      },
    },
  ],
])("npm weave: %s", async (_, call) => {
  expect(await row(call)).toEqual({ messages: [user("Oslo?"), assistant("Sunny.")] })
})

test("system instructions of a span stand beside its messages", async () => {
  const attributes = { system: [{ type: "text", content: "be kind" }] }
  const call = {
    inputs: { "gen_ai.input.messages": [user("hey")] },
    output: { "gen_ai.output.messages": [assistant("yo")] },
    attributes,
  }
  expect(await row(call)).toEqual({ messages: [{ role: "system", content: "be kind" }, user("hey"), assistant("yo")] })
})

test("a mapping takes messages, answer and tools from where it says", async () => {
  const mapping = { messages: "inputs.chat.turns", answer: "output.best.0", tools: "inputs.functions" }
  const plan = rowPlan({ source, target: { kind: "sft", mapping } })
  const inputs = {
    chat: { turns: [user("hey")] },
    functions: [{ name: "f", parameters: {} }],
    messages: [user("not this")],
  }
  const { rows } = await mapped([{ inputs, output: { best: ["yo", "no"], answer: "not this" } }], plan)
  expect(rows).toEqual([
    {
      messages: [user("hey"), assistant("yo")],
      tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    },
  ])
})

test("several choices are one too many, unless one is named", async () => {
  const call = {
    inputs: { messages: [user("hey")] },
    output: { choices: [{ message: assistant("a") }, { message: assistant("b") }] },
  }
  expect((await mapped([call])).dropped).toMatchObject([{ cause: "several_answers" }])
  const plan = rowPlan({ source, target: { kind: "sft", mapping: { answer: "output.choices.1.message" } } })
  expect((await mapped([call], plan)).rows).toEqual([{ messages: [user("hey"), assistant("b")] }])
})

test("what the source says of a row comes first", async () => {
  const extra = {
    fields: {},
    disputed: [],
    absent: {},
    feedbackIds: [],
    rowDigest: null,
    drop: { cause: "not_labelled" as const, detail: "nobody" },
  }
  const { dropped } = await mapped([{ inputs: {}, output: null }], sft, { "0": extra })
  expect(dropped).toEqual([{ id: "0", cause: "not_labelled", detail: "nobody" }])
})
