/** Vercel's AI SDK, versions 7 and 6: answers, streams, values and tools over chat, dialogues over Responses, its traces over OpenTelemetry. */
import { randomUUID } from "node:crypto"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { createOpenAICompatible as createForSixth } from "@ai-sdk/openai-compatible-2"
import { OpenTelemetry } from "@ai-sdk/otel"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node"
import * as seventh from "ai"
import * as sixth from "ai-6"
import { describe, expect, inject, test } from "vitest"
import { z } from "zod"
import { covers } from "./covers.ts"

const { url, key } = inject("server")
const settings = {
  name: "heddle",
  baseURL: `${url}/v1`,
  apiKey: key,
  includeUsage: true,
  supportsStructuredOutputs: true,
}
const modelOfSeventh = createOpenAICompatible(settings)("heddle/tiny")
const modelOfSixth = createForSixth(settings)("heddle/tiny")
const place = z.object({ city: z.enum(["Oslo", "Rome"]) })
const weather = { description: "Current weather of a city", inputSchema: place }
const degrees = ({ city }: z.infer<typeof place>) => ({ city, degrees: -3 })
const agent = { system: "You are brief.", prompt: "Weather in Oslo?", functionId: "forecaster" }

/** What these tests call is the same in both; their types are not each other's. */
const versions = [
  ["7", seventh, modelOfSeventh],
  ["6", sixth as unknown as typeof seventh, modelOfSixth],
] as const

describe.each(versions)("version %s", (_, { generateText, streamText, Output }, model) => {
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
    const schema = place.extend({ degrees: z.int().min(-30).max(40) })
    const { output } = await generateText({ model, prompt: "Weather in Oslo?", output: Output.object({ schema }) })
    expect(schema.safeParse(output).success).toBe(true)
  })
})

test(`${covers("vercel-ai-responses")} a dialogue over Responses goes on`, async () => {
  const sent: unknown[] = []
  const seen: typeof fetch = (address, init) => {
    sent.push(init?.body)
    return fetch(address, init)
  }
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch: seen })("heddle/tiny")
  const asked = { model, maxOutputTokens: 16 }
  const begun = [{ role: "user" as const, content: "3 + 4 = ?" }]
  const first = await seventh.generateText({ ...asked, messages: begun })
  const messages = [...begun, ...first.responseMessages, { role: "user" as const, content: "And 2 more?" }]
  const { usage } = await seventh.generateText({ ...asked, messages })
  expect(sent[1]).toContain('"item_reference"')
  // The prompt has the answer that was only named.
  expect(usage.inputTokens).toBeGreaterThan((first.usage.inputTokens ?? 0) + (first.usage.outputTokens ?? 0))
})

describe(`${covers("vercel-ai-tools", "vercel-ai-traced")} an agent calls its tool, and its traces are those of an agent`, () => {
  test("version 7, whose steps have spans of their own", async () => {
    const { generateText, isStepCount, tool } = seventh
    const { system: instructions, prompt, functionId } = agent
    const { project, provider } = tracing()
    const { steps, totalUsage } = await generateText({
      model: modelOfSeventh,
      instructions,
      prompt,
      tools: { weather: tool({ ...weather, execute: degrees }) },
      toolChoice: "required",
      stopWhen: isStepCount(2),
      telemetry: { functionId, integrations: [new OpenTelemetry({ tracer: provider.getTracer("ai") })] },
    })
    await provider.shutdown()
    await expectTraced(project, steps, totalUsage, ["agent_step", "agent_step"])
  })

  test("version 6", async () => {
    const { generateText, stepCountIs, tool } = sixth
    const { functionId, ...asked } = agent
    const { project, provider } = tracing()
    // It finds the span around a request by what the whole process has set.
    provider.register()
    const { steps, totalUsage } = await generateText({
      model: modelOfSixth,
      ...asked,
      tools: { weather: tool({ ...weather, execute: degrees }) },
      toolChoice: "required",
      stopWhen: stepCountIs(2),
      experimental_telemetry: { isEnabled: true, functionId },
    })
    await provider.shutdown()
    await expectTraced(project, steps, totalUsage, [])
  })
})

/** A project of its own, and what sends spans to it. */
function tracing() {
  const project = `local/vercel-ai-${randomUUID().slice(0, 8)}`
  const exporter = new OTLPTraceExporter({
    url: `${url}/otel/v1/traces`,
    headers: { authorization: `Bearer ${key}`, project_id: project },
  })
  return { project, provider: new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }) }
}

/** Of a run of two steps, each of which called the tool. `others`: operations of spans that 6 does not have. */
async function expectTraced(
  project: string,
  steps: { toolCalls: unknown[] }[],
  usage: { inputTokens: number | undefined; outputTokens: number | undefined },
  others: string[],
): Promise<void> {
  expect(steps.map(({ toolCalls }) => toolCalls.length > 0)).toEqual([true, true])
  expect(await read("/agents/query", project)).toMatchObject({
    agents: [
      {
        agent_name: agent.functionId,
        invocation_count: 1,
        total_input_tokens: usage.inputTokens,
        total_output_tokens: usage.outputTokens,
      },
    ],
  })
  const { spans } = (await read("/agents/spans/query", project)) as { spans: Record<string, unknown>[] }
  const told = spans.map(({ operation_name, tool_name, request_model }) =>
    [operation_name, tool_name ?? request_model ?? []].flat().join(" "),
  )
  const tools = steps.flatMap(({ toolCalls }) => toolCalls)
  const expected = [
    "invoke_agent heddle/tiny",
    ...steps.map(() => "chat heddle/tiny"),
    ...tools.map(() => "execute_tool weather"),
    ...others,
  ]
  expect(told.toSorted()).toEqual(expected.toSorted())
  const [called] = spans.filter(({ operation_name }) => operation_name === "execute_tool")
  expect(called?.["tool_call_result"]).toMatch(/"degrees":-3/)
}

async function read(path: string, project: string): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: project, include_details: true }),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}
