/** Streamed chat completions through the npm openai client: raw chunks, the helper, leaving early. */
import type OpenAI from "openai"
import { expect, test } from "vitest"
import { asked, openai, weatherTool } from "./client.ts"
import { covers } from "./covers.ts"

async function collect(body: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  const chunks: OpenAI.ChatCompletionChunk[] = []
  const stream = await openai().chat.completions.create({ ...asked, ...body, stream: true })
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

test(`${covers("chat-stream")} the pieces make the whole answer`, async () => {
  const whole = await openai().chat.completions.create(asked)
  const parts = (await collect()).flatMap((chunk) => chunk.choices)
  expect(parts[0]?.delta.role).toBe("assistant")
  expect(parts.map((part) => part.delta.content ?? "").join("")).toBe(whole.choices[0]?.message.content)
  expect(parts.filter((part) => part.finish_reason).map((part) => part.finish_reason)).toEqual([
    whole.choices[0]?.finish_reason,
  ])
})

test(`${covers("chat-stream-usage")} usage is the last chunk`, async () => {
  const chunks = await collect({ stream_options: { include_usage: true } })
  expect(chunks.at(-1)?.choices).toEqual([])
  expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0)
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
})

test(`${covers("chat-stream-n")} four choices open in order and each ends`, async () => {
  const parts = (await collect({ n: 4 })).flatMap((chunk) => chunk.choices)
  expect(parts.filter((part) => part.delta.role).map((part) => part.index)).toEqual([0, 1, 2, 3])
  const ended = parts.filter((part) => part.finish_reason).map((part) => part.index)
  expect(ended.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3])
})

test(`${covers("chat-stream-helper")} the helper puts text together`, async () => {
  const whole = await openai().chat.completions.create(asked)
  const final = await openai().chat.completions.stream(asked).finalChatCompletion()
  expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content)
})

test(`${covers("chat-stream-helper", "chat-tools")} the helper puts tool calls together`, async () => {
  const question = { role: "user", content: "Weather in Oslo?" } as const
  const body = { model: "heddle/tiny", messages: [question], tools: [weatherTool], n: 32, seed: 1 }
  const whole = await openai().chat.completions.create(body)
  const final = await openai().chat.completions.stream(body).finalChatCompletion()
  const called = (completion: OpenAI.ChatCompletion) =>
    completion.choices.map((choice) =>
      choice.message.tool_calls?.map((call) => (call.type === "function" ? call.function : null)),
    )
  expect(called(whole).some((calls) => calls?.length)).toBe(true)
  expect(called(final).map((calls) => calls?.map((call) => call?.arguments))).toEqual(
    called(whole).map((calls) => calls?.map((call) => call?.arguments)),
  )
})

test(
  `${covers("chat-abort")} a client that leaves a stream stops the engine's work for it`,
  { timeout: 60_000 },
  async () => {
    const endless = { ...asked, max_completion_tokens: 1900, ignore_eos: true } as const
    for (let round = 0; round < 4; round++) {
      const stream = await openai().chat.completions.create({ ...endless, n: 128, stream: true })
      for await (const chunk of stream) {
        if (chunk.choices.some((choice) => choice.delta.content)) stream.controller.abort()
      }
    }
    // This takes seconds alone; it would take minutes if the engine still made the 512 answers that nobody reads.
    const alone = await openai().chat.completions.create({ ...endless, max_completion_tokens: 1000 })
    expect(alone.usage?.completion_tokens).toBe(1000)
  },
)
