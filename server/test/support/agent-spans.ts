/** Sends spans of agents as OTLP/JSON; has a small world of spans whose figures can be computed by hand. */
import type { EvaluationCaller } from "./evaluation-app.ts"
import { jsonAttributes, jsonTraces } from "./otlp-message.ts"

type Attributes = Parameters<typeof jsonAttributes>[0]

export interface TestSpan {
  trace: string
  id: string
  parent?: string
  name?: string
  /** Seconds after {@link began}. */
  at: number
  /** Duration in seconds. */
  takes?: number
  attributes?: Attributes
  error?: string
  events?: { name: string; attributes: Attributes }[]
}

/** A span of the trace `1`; without a parent it is the outermost. */
export function span(
  id: string,
  parent: string | undefined,
  at: number,
  takes: number,
  attributes: Attributes = {},
): TestSpan {
  return { trace: "1", id, ...(parent === undefined ? {} : { parent }), at, takes, attributes }
}

/** Time at which the world begins. */
export const began = "2026-03-01T10:00:00"
const beganNanoseconds = BigInt(Date.parse(`${began}Z`)) * 1_000_000n

/** The id of the trace named `1` or another short hexadecimal number. */
export const traceId = (name: string) => name.padStart(32, "0")
export const spanId = (name: string) => name.padStart(16, "0")

const nanoseconds = (seconds: number) => String(beganNanoseconds + BigInt(Math.round(seconds * 1e9)))

function otlpSpan({ trace, id, parent, name, at, takes = 1, attributes = {}, error, events = [] }: TestSpan): object {
  return {
    traceId: traceId(trace),
    spanId: spanId(id),
    ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
    name: name ?? "chat",
    kind: 3,
    startTimeUnixNano: nanoseconds(at),
    endTimeUnixNano: nanoseconds(at + takes),
    attributes: jsonAttributes(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanoseconds(at),
      name: event.name,
      attributes: jsonAttributes(event.attributes),
    })),
    ...(error === undefined ? {} : { status: { code: 2, message: error } }),
  }
}

export async function sendSpans(caller: EvaluationCaller, project: string, ...spans: TestSpan[]): Promise<void> {
  await sendSpansTo("/agents/otel/v1/traces", caller, project, ...spans)
}

export async function sendSpansTo(
  path: string,
  caller: EvaluationCaller,
  project: string,
  ...spans: TestSpan[]
): Promise<void> {
  const headers = { project_id: project }
  const answer = await caller.post(path, jsonTraces(...spans.map(otlpSpan)), headers)
  if (answer.status !== 200 || answer.text !== "{}") throw new Error(`${answer.status} ${answer.text}`)
}

export const agent = (name: string, version: string, more: Attributes = {}): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": name,
  "gen_ai.agent.version": version,
  ...more,
})

/** Attributes of a model's call; `usage` are its input and output tokens. */
export const model = (
  usage: [bigint, bigint],
  input: object[],
  output: object[],
  more: Attributes = {},
): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "OpenAI",
  "gen_ai.request.model": "model-a",
  "gen_ai.usage.input_tokens": usage[0],
  "gen_ai.usage.output_tokens": usage[1],
  "gen_ai.input.messages": JSON.stringify(input),
  "gen_ai.output.messages": JSON.stringify(output),
  ...more,
})

export const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] })

const asks = said("user", "Where is my order?")
const calls = {
  role: "assistant",
  parts: [
    { type: "reasoning", content: "I must look it up." },
    { type: "tool_call", id: "call-1", name: "lookup", arguments: '{"id":1}' },
  ],
}
const looked = { role: "tool", parts: [{ type: "tool_call_response", id: "call-1", response: "shipped" }] }

/**
 * Conversation `c1` with two turns of the agent `helper`, the second with the agent `researcher` inside,
 * which fails; conversation `c2` with one turn of `writer`.
 */
export const world: TestSpan[] = [
  {
    trace: "1",
    id: "a1",
    name: "invoke_agent helper",
    at: 0,
    takes: 10,
    attributes: agent("helper", "1", { "gen_ai.conversation.id": "c1", "gen_ai.conversation.name": "Order" }),
  },
  {
    trace: "1",
    id: "b1",
    parent: "a1",
    at: 1,
    takes: 2,
    attributes: model([100n, 20n], [asks], [calls], { "gen_ai.usage.reasoning.output_tokens": 8n }),
  },
  {
    trace: "1",
    id: "c1",
    parent: "a1",
    name: "execute_tool lookup",
    at: 3,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "lookup",
      "gen_ai.tool.call.id": "call-1",
      "gen_ai.tool.call.arguments": '{"id":1}',
      "gen_ai.tool.call.result": "shipped",
    },
  },
  {
    trace: "1",
    id: "d1",
    parent: "a1",
    at: 5,
    takes: 4,
    attributes: model([150n, 30n], [asks, calls, looked], [said("assistant", "It was shipped.")], {
      "gen_ai.response.model": "model-a-2026",
      "gen_ai.usage.cache_read.input_tokens": 50n,
    }),
  },
  {
    trace: "2",
    id: "a2",
    name: "invoke_agent helper",
    at: 60,
    takes: 10,
    attributes: agent("helper", "2", { "gen_ai.conversation.id": "c1" }),
  },
  {
    trace: "2",
    id: "e2",
    parent: "a2",
    name: "invoke_agent researcher",
    at: 61,
    takes: 4,
    attributes: agent("researcher", "1"),
    error: "no network",
    events: [{ name: "exception", attributes: { "exception.type": "TimeoutError" } }],
  },
  {
    trace: "2",
    id: "b2",
    parent: "e2",
    at: 62,
    takes: 2,
    attributes: model([10n, 5n], [said("user", "Search the web")], [said("assistant", "Nothing found.")]),
  },
  {
    trace: "2",
    id: "d2",
    parent: "a2",
    at: 66,
    takes: 3,
    attributes: model(
      [40n, 10n],
      [asks, said("assistant", "It was shipped."), said("user", "Thanks!")],
      [said("assistant", "You are welcome.")],
    ),
  },
  {
    trace: "3",
    id: "f3",
    at: 120,
    takes: 0.25,
    attributes: model([7n, 3n], [said("user", "Write a poem")], [said("assistant", "Roses are red")], {
      "gen_ai.agent.name": "writer",
      "gen_ai.conversation.id": "c2",
      "gen_ai.request.model": "unpriced",
      tier: "gold",
      retries: 3n,
      score: 0.5,
      ok: true,
    }),
  },
]

/** Sends the world, and the price of a token of its models in USD: 0.01 in, 0.02 out, 0.001 from the cache. */
export async function sendWorld(caller: EvaluationCaller, project: string): Promise<void> {
  await sendSpans(caller, project, ...world)
  const price = {
    prompt_token_cost: 0.01,
    completion_token_cost: 0.02,
    cache_read_input_token_cost: 0.001,
    effective_date: "2026-01-01T00:00:00Z",
  }
  const answer = await caller.post("/cost/create", { project_id: project, costs: { "model-a": price } })
  if (answer.status !== 200) throw new Error(answer.text)
}
