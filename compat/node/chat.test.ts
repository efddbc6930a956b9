/** Chat completions without streaming, through the npm openai client. */
import { expect, test } from "vitest"
import { asked, openai, registeredModel, weatherTool } from "./client.ts"
import { covers } from "./covers.ts"

test(`${covers("chat-create")} the base model answers`, async () => {
  const completion = await openai().chat.completions.create(asked)
  expect(completion.id).toMatch(/^chatcmpl-/)
  expect(completion).toMatchObject({ object: "chat.completion", model: "heddle/tiny" })
  expect(completion.created).toBeGreaterThan(1_700_000_000)
  expect(completion.choices).toHaveLength(1)
  expect(completion.choices[0]?.message.role).toBe("assistant")
  expect(completion.choices[0]?.message.content).not.toBe("")
  expect(["stop", "length"]).toContain(completion.choices[0]?.finish_reason)
  const usage = completion.usage
  expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
  expect(completion._request_id).toBeTruthy()
})

test(`${covers("chat-step-zero", "chat-always-ids")} step 0 answers with token ids`, async () => {
  const model = await registeredModel("node-chat")
  const completion = await openai().chat.completions.create({ ...asked, model: `${model}:step0` })
  const choice = completion.choices[0] as unknown as { token_ids: number[]; logprobs: { content: unknown[] } }
  expect(choice.token_ids.length).toBe(completion.usage?.completion_tokens)
  expect(choice.logprobs.content.length).toBe(choice.token_ids.length)
})

test(`${covers("chat-response-format")} every answer is of the schema that asked for it`, async () => {
  const properties = { city: { enum: ["Oslo", "Rome"] }, degrees: { type: "integer", minimum: -30, maximum: 40 } }
  const schema = { type: "object", properties, required: ["city", "degrees"], additionalProperties: false }
  const completion = await openai().chat.completions.parse({
    model: "heddle/tiny",
    messages: [{ role: "user", content: "Weather in Oslo?" }],
    response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema } },
    n: 8,
  })
  expect(completion.choices).toHaveLength(8)
  for (const { message } of completion.choices) {
    const { city, degrees, ...others } = JSON.parse(message.content ?? "") as { city: string; degrees: number }
    expect([["Oslo", "Rome"].includes(city), degrees >= -30 && degrees <= 40, others]).toEqual([true, true, {}])
  }
})

test(`${covers("chat-n")} four choices come in order`, async () => {
  const completion = await openai().chat.completions.create({ ...asked, n: 4 })
  expect(completion.choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3])
})

test(`${covers("chat-tools")} a tool call and its result`, async () => {
  const question = { role: "user", content: "Weather in Oslo?" } as const
  const completion = await openai().chat.completions.create({
    model: "heddle/tiny",
    messages: [question],
    tools: [weatherTool],
    n: 32,
    seed: 1,
  })
  const choice = completion.choices.find((one) => one.message.tool_calls?.length)
  const call = choice?.message.tool_calls?.[0]
  if (!choice || call?.type !== "function") throw new Error("none of 32 samples called the tool")
  expect(choice.finish_reason).toBe("tool_calls")
  expect(call.function.name).toBe("get_weather")
  expect(() => JSON.parse(call.function.arguments)).not.toThrow()
  const answer = await openai().chat.completions.create({
    model: "heddle/tiny",
    messages: [question, choice.message, { role: "tool", tool_call_id: call.id, content: "sunny" }],
    tools: [weatherTool],
    max_completion_tokens: 8,
  })
  expect(["stop", "length", "tool_calls"]).toContain(answer.choices[0]?.finish_reason)
})
