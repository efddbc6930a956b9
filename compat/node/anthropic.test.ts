/** Anthropic's npm client: messages, values of a schema, its tool runner and its threads. */
import Anthropic from "@anthropic-ai/sdk"
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod"
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod"
import { expect, inject, test } from "vitest"
import { z } from "zod"
import { covers } from "./covers.ts"

/** Greedy: an answer that is drawn by chance may be cut off in the middle of a call. */
const asked = { model: "heddle/tiny", max_tokens: 40, temperature: 0 }
const question = { role: "user" as const, content: "3 + 4 = ?" }

interface Asked {
  status: number
  messages: unknown[]
}

/** A client of the started server, and the requests that left it. */
function anthropic(): { client: Anthropic; requests: Asked[] } {
  const { url, key } = inject("server")
  const requests: Asked[] = []
  const client = new Anthropic({
    baseURL: url,
    apiKey: key,
    fetch: async (address, init) => {
      const answer = await fetch(address, init)
      const { messages } = JSON.parse(init?.body as string) as { messages: unknown[] }
      requests.push({ status: answer.status, messages })
      return answer
    },
  })
  return { client, requests }
}

test(`${covers("messages-create", "messages-stream")} a message, and a stream of one`, async () => {
  const { client } = anthropic()
  const whole = await client.messages.create({ ...asked, messages: [question] })
  expect(whole.content[0]).toMatchObject({ type: "text", text: expect.any(String) })
  let text = ""
  const stream = client.messages.stream({ ...asked, messages: [question] }).on("text", (piece) => (text += piece))
  expect(await stream.finalText()).toBe(text)
  expect((await stream.finalMessage()).usage.input_tokens).toBe(whole.usage.input_tokens)
})

test(`${covers("messages-structured")} a value of a schema`, async () => {
  const format = zodOutputFormat(z.object({ sign: z.enum(["+", "-"]) }))
  const message = await anthropic().client.messages.parse({
    ...asked,
    messages: [question],
    output_config: { format },
  })
  expect(["+", "-"]).toContain(message.parsed_output?.sign)
})

test.each([false, true])(
  `${covers("messages-tools", "messages-thread")} the tool runner, streamed: %s`,
  async (stream) => {
    const { client, requests } = anthropic()
    const asks: number[] = []
    const look = betaZodTool({
      name: "look",
      description: "Looks a digit up",
      inputSchema: z.object({ digit: z.union([z.literal(3), z.literal(4)]) }),
      run: ({ digit }) => `${asks.push(digit)} found`,
    })
    const runner = client.beta.messages.toolRunner({
      ...asked,
      messages: [question],
      tools: [look],
      tool_choice: { type: "any" },
      max_iterations: 3,
      stream,
    })
    await runner.runUntilDone()
    expect(asks.length).toBeGreaterThanOrEqual(3)
    // Each turn that was answered had the turns before it: a call and its result more every time.
    const answered = requests.filter(({ status }) => status === 200).map(({ messages }) => messages.length)
    expect(answered).toEqual([1, 3, 5])
  },
)

test(`${covers("messages-thread")} a thread goes on from what was said before`, async () => {
  const { client } = anthropic()
  const thread = client.beta.messages.thread({ ...asked, system: "Be short." })
  const first = await thread.send(question)
  const second = await thread.send({ role: "user", content: "And 2 more?" })
  expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens + first.usage.output_tokens)
  expect(thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
})
