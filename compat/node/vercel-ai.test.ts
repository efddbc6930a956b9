/** Vercel's AI SDK: answers, streams, values and tools over chat, and its traces over OpenTelemetry. */
import { randomUUID } from "node:crypto"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node"
import { generateText, Output, stepCountIs, streamText, tool } from "ai"
import { expect, inject, test } from "vitest"
import { z } from "zod"
import { covers } from "./covers.ts"

const { url, key } = inject("server")
const heddle = createOpenAICompatible({
  name: "heddle",
  baseURL: `${url}/v1`,
  apiKey: key,
  includeUsage: true,
  supportsStructuredOutputs: true,
})
const model = heddle("heddle/tiny")
const weather = tool({
  description: "Current weather of a city",
  inputSchema: z.object({ city: z.enum(["Oslo", "Rome"]) }),
  execute: ({ city }) => ({ city, degrees: -3 }),
})

test(`${covers("vercel-ai-chat")} an answer, and a stream of one`, async () => {
  const asked = { model, prompt: "3 + 4 = ?", maxOutputTokens: 16 }
  const { text, finishReason, usage } = await generateText(asked)
  expect(text).not.toBe("")
  expect(["stop", "length"]).toContain(finishReason)
  expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))
  const stream = streamText(asked)
  let streamed = ""
  for await (const piece of stream.textStream) streamed += piece
  expect(streamed).toBe(await stream.text)
  expect((await stream.usage).inputTokens).toBe(usage.inputTokens)
})

test(`${covers("vercel-ai-values")} a value of a schema`, async () => {
  const schema = z.object({ city: z.enum(["Oslo", "Rome"]), degrees: z.int().min(-30).max(40) })
  const { output } = await generateText({ model, prompt: "Weather in Oslo?", output: Output.object({ schema }) })
  expect(schema.safeParse(output).success).toBe(true)
})

test(`${covers("vercel-ai-tools", "vercel-ai-traced")} an agent calls its tool, and its traces are those of an agent`, async () => {
  const project = `local/vercel-ai-${randomUUID().slice(0, 8)}`
  const exporter = new OTLPTraceExporter({
    url: `${url}/otel/v1/traces`,
    headers: { authorization: `Bearer ${key}`, project_id: project },
  })
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  const { steps, totalUsage } = await generateText({
    model,
    system: "You are brief.",
    prompt: "Weather in Oslo?",
    tools: { weather },
    toolChoice: "required",
    stopWhen: stepCountIs(2),
    experimental_telemetry: { isEnabled: true, functionId: "forecaster" },
  })
  await provider.shutdown()
  expect(steps.map(({ toolCalls }) => toolCalls.length > 0)).toEqual([true, true])
  expect(await read("/agents/query", project)).toMatchObject({
    agents: [
      {
        agent_name: "forecaster",
        invocation_count: 1,
        total_input_tokens: totalUsage.inputTokens,
        total_output_tokens: totalUsage.outputTokens,
      },
    ],
  })
  const { spans } = (await read("/agents/spans/query", project)) as { spans: Record<string, unknown>[] }
  const told = spans.map(({ operation_name, tool_name, request_model }) =>
    [operation_name, tool_name ?? request_model].join(" "),
  )
  const tools = steps.flatMap(({ toolCalls }) => toolCalls)
  const expected = [
    "invoke_agent heddle/tiny",
    ...steps.map(() => "chat heddle/tiny"),
    ...tools.map(() => "execute_tool weather"),
  ]
  expect(told.toSorted()).toEqual(expected.toSorted())
  const [called] = spans.filter(({ operation_name }) => operation_name === "execute_tool")
  expect(called?.["tool_call_result"]).toMatch(/"degrees":-3/)
})

async function read(path: string, project: string): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: project, include_details: true }),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}
