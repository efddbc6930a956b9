import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { chatOf } from "./chat-messages.ts"

const read = (inputs: unknown, output: unknown = null) =>
  chatOf(JSON.stringify(inputs) as JsonText, JSON.stringify(output) as JsonText)
const said = (inputs: unknown, output: unknown = null) =>
  read(inputs, output)?.messages.map(({ role, text }) => `${role}: ${text}`)
const user = { role: "user", content: "4+5=" }

test.each([
  [
    "an answer of chat completions",
    { messages: [user] },
    { choices: [{ message: { role: "assistant", content: "9" } }] },
  ],
  ["a message", { messages: [user] }, { role: "assistant", content: "9" }],
  ["a text", { messages: [user] }, "9"],
  ["wrapped arguments", { self: "x", kwargs: { messages: [user] } }, { content: "9" }],
  [
    "the Responses API",
    { input: [user] },
    { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "9" }] }] },
  ],
  [
    "parts of Anthropic",
    { messages: [{ role: "user", content: [{ type: "text", text: "4+5=" }] }] },
    { content: [{ type: "text", text: "9" }], role: "assistant" },
  ],
  [
    "the Responses API, asked with a text",
    { model: "m", input: "4+5=" },
    { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "9" }] }] },
  ],
  [
    "a stream of the Responses API, as npm weave stores it",
    { self: {}, model: "m", input: "4+5=" },
    {
      responses: [{ output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "9" }] }] }],
    },
  ],
  [
    "a span of OpenTelemetry",
    { "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "4+5=" }] }] },
    {
      "gen_ai.output.messages": [{ role: "assistant", finish_reason: "stop", parts: [{ type: "text", content: "9" }] }],
    },
  ],
  [
    "a span of OpenInference",
    { "input.value": { model: "m", messages: [user] } },
    { "output.value": { choices: [{ message: { role: "assistant", content: "9" } }] } },
  ],
  [
    "a call of Anthropic's npm client",
    { self: { baseURL: "x" }, arg0: { model: "m", messages: [user] } },
    { role: "assistant", content: [{ type: "text", text: "9" }] },
  ],
])("%s is a chat", (_name, inputs, output) => expect(said(inputs, output)).toEqual(["user: 4+5=", "assistant: 9"]))

test.each([
  ["a text", "Be brief."],
  [
    "a list of parts",
    [
      { type: "text", text: "Be " },
      { type: "text", text: "brief.", cache_control: { type: "ephemeral" } },
    ],
  ],
])("instructions as %s", (_form, system) =>
  expect(said({ system, messages: [user] })).toEqual(["system: Be brief.", "user: 4+5="]),
)

test.each([[{ question: "x" }], [{ messages: [] }], [{ messages: "none" }], [{ messages: [1, 2] }], [[user]], [null]])(
  "%j is none",
  (inputs) => expect(read(inputs)).toBeNull(),
)

test("calls of tools, thinking, and parts that are no text", () => {
  const chat = read(
    {
      system: "be brief",
      tools: [{}, {}],
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:" } },
            { type: "text", text: "what?" },
          ],
        },
        { role: "assistant", content: null, tool_calls: [{ function: { name: "look", arguments: '{"n": 1.0}' } }] },
        { role: "tool", content: "a cat" },
      ],
    },
    {
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "tool_use", name: "say", input: { a: 1 } },
      ],
    },
  )
  expect(chat?.tools).toBe(2)
  expect(chat?.answered).toBe(1)
  expect(chat?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant"])
  expect(chat?.messages[1]?.otherParts).toEqual(["image"])
  expect(chat?.messages[2]?.toolCalls).toEqual([{ name: "look", arguments: '{"n": 1.0}' }])
  expect(chat?.messages[4]).toMatchObject({ reasoning: "hm", toolCalls: [{ name: "say", arguments: '{"a":1}' }] })
})

test("tools of a span of OpenTelemetry", () => {
  const call = { type: "tool_call", id: "c", name: "look", arguments: { digit: 4 } }
  const result = { type: "tool_call_response", id: "c", response: "four" }
  const messages = [
    { role: "assistant", parts: [call] },
    { role: "tool", parts: [result] },
  ]
  expect(read({ "gen_ai.input.messages": messages })?.messages).toMatchObject([
    { role: "assistant", toolCalls: [{ name: "look", arguments: '{"digit":4}' }], otherParts: [] },
    { role: "tool", text: "four", otherParts: [] },
  ])
})

test("pieces of a stream of Anthropic, as npm weave stores them", () => {
  const content = [
    { type: "thinking", thinking: "" },
    { type: "thinking_delta", thinking: "I " },
    { type: "thinking_delta", thinking: "look" },
    { type: "signature_delta", signature: "x" },
    { type: "text", text: "" },
    { type: "text_delta", text: "So " },
    { type: "text_delta", text: "then" },
    { type: "tool_use", id: "t", name: "look", input: {} },
    { type: "input_json_delta", partial_json: '{"digit"' },
    { type: "input_json_delta", partial_json: ": 4}" },
  ]
  const chat = read({ arg0: { messages: [user] } }, { messages: [{ role: "assistant", content }] })
  expect(chat?.messages[1]).toEqual({
    role: "assistant",
    text: "So then",
    reasoning: "I look",
    toolCalls: [{ name: "look", arguments: '{"digit": 4}' }],
    otherParts: [],
    media: [],
  })
})

test("pictures of messages are media, also in the result of a tool beside its words, and as the SDK stored them", () => {
  const source = { type: "base64", media_type: "image/png", data: "aGk=" }
  const stored = { _type: "CustomWeaveType", weave_type: { type: "PIL.Image.Image" }, files: { "image.png": "digest" } }
  const chat = read({
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }, "what?"] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            content: [
              { type: "text", text: "a shot" },
              { type: "image", source },
            ],
          },
        ],
      },
      { role: "user", content: stored },
      { role: "user", content: [{ type: "tool_result", content: "plain" }] },
    ],
  })
  expect(
    chat?.messages.map(({ text, media, otherParts }) => [text, media.map(({ type }) => type), otherParts]),
  ).toEqual([
    ["what?", ["image/png"], []],
    ["a shot", ["image/png"], []],
    ["", ["image/png"], []],
    ["plain", [], []],
  ])
})

test("a function of a model and a text is a chat only if it answers as one: else its output would be nowhere", () => {
  const inputs = { model: "m", input: "4+5=" }
  expect([{ label: "sum" }, { data: [{ embedding: [0.5] }] }, 9].map((output) => read(inputs, output))).toEqual([
    null,
    null,
    null,
  ])
  expect(said(inputs)).toEqual(["user: 4+5="])
})

test("a call without arguments, as npm weave stores a stream of Anthropic, has an empty object of them", () => {
  const content = [
    { type: "tool_use", id: "1", name: "now", input: {} },
    { type: "input_json_delta", partial_json: "" },
  ]
  const chat = read({ messages: [user] }, { messages: [{ role: "assistant", content }] })
  expect(chat?.messages.at(-1)?.toolCalls).toEqual([{ name: "now", arguments: "{}" }])
})
