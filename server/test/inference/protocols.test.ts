/**
 * The same dialogue by chat, Responses and Messages has the same prompt and answer, with the real engine (art-0.5.23
 * 8).
 */
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { dataOf } from "../support/inference-client.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let opened: TestApp
beforeAll(async () => (opened = await openTestApp({ engine: "process", python })), 60_000)
afterAll(() => opened.close())

const model = "heddle/tiny"
const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }
const sampling = { model, seed: 7, temperature: 1 }

interface Sampled {
  prompt: number[]
  ids: number[]
  logprobs: number[]
  text: string
  calls: unknown[]
}

async function post(url: string, body: object): Promise<unknown> {
  const { status, body: answer } = await opened.acme.post(url, { ...sampling, ...body })
  expect([status, answer]).toEqual([200, expect.anything()])
  return answer
}

/** Sends a streamed request; returns the data of its events. */
async function streamed(url: string, body: object): Promise<Record<string, unknown>[]> {
  const { statusCode, payload } = await opened.app.server.inject({
    method: "POST",
    url,
    headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
    payload: JSON.stringify({ ...sampling, ...body, stream: true }),
  })
  expect(statusCode).toBe(200)
  return dataOf(payload.replaceAll(/^event: .*\n/gm, ""))
}

function ofChat(answer: unknown): Sampled {
  interface Call {
    function: { arguments: string }
  }
  const { choices, prompt_token_ids } = answer as {
    prompt_token_ids: number[]
    choices: [
      {
        message: { content: string | null; tool_calls?: Call[] }
        token_ids: number[]
        logprobs: { content: { logprob: number }[] }
      },
    ]
  }
  const [{ message, token_ids, logprobs }] = choices
  return {
    prompt: prompt_token_ids,
    ids: token_ids,
    logprobs: logprobs.content.map(({ logprob }) => logprob),
    text: message.content ?? "",
    calls: (message.tool_calls ?? []).map((call) => JSON.parse(call.function.arguments) as unknown),
  }
}

function ofResponse(answer: unknown): Sampled {
  const { output, token_generations } = answer as {
    output: { type: string; arguments: string; content?: { text: string }[] }[]
    token_generations: [{ prompt_token_ids: number[]; output_tokens: { token_id: number; logprob: number }[] }]
  }
  const [{ prompt_token_ids, output_tokens }] = token_generations
  return {
    prompt: prompt_token_ids,
    ids: output_tokens.map(({ token_id }) => token_id),
    logprobs: output_tokens.map(({ logprob }) => logprob),
    text: output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(""),
    calls: output.filter(({ type }) => type === "function_call").map((call) => JSON.parse(call.arguments) as unknown),
  }
}

interface Tokens {
  prompt_token_ids: number[]
  token_ids: number[]
  logprobs: number[]
}

function ofMessage(answer: unknown): Sampled {
  const { content, ...tokens } = answer as Tokens & { content: { type: string; text?: string; input?: unknown }[] }
  return {
    ...flat(tokens),
    text: content.map(({ text = "" }) => text).join(""),
    calls: content.filter(({ type }) => type === "tool_use").map(({ input }) => input),
  }
}

function flat({ prompt_token_ids, token_ids, logprobs }: Tokens): Pick<Sampled, "prompt" | "ids" | "logprobs"> {
  return { prompt: prompt_token_ids, ids: token_ids, logprobs }
}

function expectSame(other: Sampled, first: Sampled): void {
  const { logprobs, ...rest } = first
  const { logprobs: others, ...otherRest } = other
  expect(otherRest).toEqual(rest)
  expect(others).toHaveLength(logprobs.length)
  // Equal to 4 digits only, because a cached prompt is computed in other pieces.
  for (const [place, logprob] of logprobs.entries()) expect(others[place]).toBeCloseTo(logprob, 4)
}

const dialogues = {
  "a question": {
    chat: { messages: [{ role: "user", content: "3 + 4 = ?" }] },
    responses: { input: "3 + 4 = ?" },
    messages: { messages: [{ role: "user", content: "3 + 4 = ?" }] },
  },
  "turns with a tool's result, and a call that must be made": {
    chat: {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "sunny" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: schema } }],
      tool_choice: "required",
    },
    responses: {
      instructions: "Be brief.",
      input: [
        { role: "user", content: "Weather?" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "c1", output: "sunny" },
      ],
      tools: [{ type: "function", name: "f", parameters: schema }],
      tool_choice: "required",
    },
    messages: {
      system: "Be brief.",
      messages: [
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "sunny" }] },
      ],
      tools: [{ name: "f", input_schema: schema }],
      tool_choice: { type: "any" },
    },
  },
}

test.each(Object.entries(dialogues))(
  "art-0.5.23 8: %s has the same prompt, tokens and log-probabilities by every protocol, streamed or not",
  async (_, { chat, responses, messages }) => {
    const first = ofChat(await post("/v1/chat/completions", { ...chat, max_tokens: 48, logprobs: true }))
    expect(first.ids.length).toBeGreaterThan(0)
    expect(first.prompt.length).toBeGreaterThan(0)
    const response = { ...responses, max_output_tokens: 48 }
    expectSame(ofResponse(await post("/v1/responses", response)), first)
    const events = await streamed("/v1/responses", response)
    expectSame(ofResponse(events.at(-1)?.["response"]), first)
    const message = { ...messages, max_tokens: 48 }
    expectSame(ofMessage(await post("/v1/messages", message)), first)
    const end = (await streamed("/v1/messages", message)).find(({ type }) => type === "message_delta")
    const { text, calls } = first
    expectSame({ ...flat(end as unknown as Tokens), text, calls }, first)
    const { stop_reason } = (await post("/v1/messages", message)) as { stop_reason: string }
    expect(stop_reason).toMatch(/^(end_turn|tool_use|max_tokens)$/)
  },
)

test("art-0.5.23 7: count_tokens counts the tokens of the prompt", async () => {
  const { messages } = dialogues["a question"]
  const counted = await post("/v1/messages/count_tokens", messages)
  const message = ofMessage(await post("/v1/messages", { ...messages, max_tokens: 1 }))
  expect(counted).toEqual({ input_tokens: message.prompt.length })
})

test("art-0.5.23 6: a stored answer goes on from the very prompt and answer", async () => {
  const first = (await post("/v1/responses", { input: "3 + 4 = ?", max_output_tokens: 8 })) as {
    id: string
    output: object[]
  }
  const second = await post("/v1/responses", { input: "And?", previous_response_id: first.id, max_output_tokens: 1 })
  const items = [{ role: "user", content: "3 + 4 = ?" }, ...first.output, { role: "user", content: "And?" }]
  const whole = await post("/v1/responses", { input: items, max_output_tokens: 1, store: false })
  expect(ofResponse(second).prompt).toEqual(ofResponse(whole).prompt)
})

test("art-0.5.23 6: input_tokens counts the tokens of the prompt, with what it goes on from", async () => {
  const { responses } = dialogues["a question"]
  const { id } = (await post("/v1/responses", { input: "3 + 4 = ?", max_output_tokens: 8 })) as { id: string }
  for (const body of [responses, { input: "And?", previous_response_id: id, instructions: "Be brief." }]) {
    const counted = await post("/v1/responses/input_tokens", body)
    const { prompt } = ofResponse(await post("/v1/responses", { ...body, max_output_tokens: 1, store: false }))
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: prompt.length })
  }
})
