/** Fills a project with agents and their conversations, as OpenTelemetry exporters send them. */
import type { Heddle } from "./heddle.ts"

type Attributes = Record<string, string | number>

interface Span {
  id: string
  parent?: string
  name: string
  /** Seconds after the turn began. */
  at: number
  takes: number
  attributes: Attributes
  error?: string
}

/** One turn: a trace of its own. */
export interface Turn {
  trace: string
  /** Unix milliseconds. */
  began: number
  spans: Span[]
}

const valueOf = (value: string | number) =>
  typeof value === "string" ? { stringValue: value } : { intValue: String(value) }

const nanoseconds = (milliseconds: number) => `${Math.round(milliseconds)}000000`

export async function sendTurns(heddle: Heddle, project: string, turns: readonly Turn[]): Promise<void> {
  const spans = turns.flatMap(({ trace, began, spans: ofTurn }) =>
    ofTurn.map(({ id, parent, name, at, takes, attributes, error }) => ({
      traceId: trace,
      spanId: spanId(trace, id),
      ...(parent === undefined ? {} : { parentSpanId: spanId(trace, parent) }),
      name,
      startTimeUnixNano: nanoseconds(began + at * 1000),
      endTimeUnixNano: nanoseconds(began + (at + takes) * 1000),
      attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) })),
      ...(error === undefined ? {} : { status: { code: 2, message: error } }),
    })),
  )
  const resource = { attributes: [{ key: "wandb.project", value: { stringValue: project.split("/")[1] } }] }
  const body = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }
  const answer = await fetch(`${heddle.url}/agents/otel/v1/traces`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json", project_id: project },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
}

const spanId = (trace: string, id: string) => `${trace.slice(-12)}${id.padStart(4, "0")}`
export const traceId = (number: number) => number.toString(16).padStart(32, "0")

const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] })

interface Said {
  number: number
  began: number
  agent: string
  version?: string
  conversation?: string
  asks: string
  answers: string
  /** Calls a tool before it answers; with an error the tool fails. */
  tool?: { name: string; given: string; returned: string; error?: string }
  reasoning?: string
}

/** A turn in which an agent is asked, may use a tool, and answers. */
export function turnOf({
  number,
  began,
  agent,
  version = "1",
  conversation,
  asks,
  answers,
  tool,
  ...rest
}: Said): Turn {
  const trace = traceId(number)
  const asked = said("user", asks)
  const calls = { type: "tool_call", id: `call-${number}`, name: tool?.name, arguments: tool?.given }
  const model = (input: object[], output: object[], tokens: [number, number]): Attributes => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": tokens[0],
    "gen_ai.usage.output_tokens": tokens[1],
    "gen_ai.input.messages": JSON.stringify(input),
    "gen_ai.output.messages": JSON.stringify(output),
  })
  const reasoning = rest.reasoning === undefined ? [] : [{ type: "reasoning", content: rest.reasoning }]
  const first = { role: "assistant", parts: [...reasoning, calls] }
  return {
    trace,
    began,
    spans: [
      {
        id: "a",
        name: `invoke_agent ${agent}`,
        at: 0,
        takes: 6 + (number % 5),
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": agent,
          "gen_ai.agent.version": version,
          "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: `You are ${agent}. Be brief.` }]),
          ...(conversation === undefined ? {} : { "gen_ai.conversation.id": conversation }),
        },
      },
      ...(tool === undefined
        ? []
        : [
            { id: "b", parent: "a", name: "chat", at: 1, takes: 1, attributes: model([asked], [first], [180, 24]) },
            {
              id: "c",
              parent: "a",
              name: `execute_tool ${tool.name}`,
              at: 2,
              takes: 1,
              attributes: {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool.name,
                "gen_ai.tool.call.id": `call-${number}`,
                "gen_ai.tool.call.arguments": tool.given,
                "gen_ai.tool.call.result": tool.returned,
              },
              ...(tool.error === undefined ? {} : { error: tool.error }),
            },
          ]),
      {
        id: "d",
        parent: "a",
        name: "chat",
        at: 3,
        takes: 2,
        attributes: model([asked], [said("assistant", answers)], [240 + number, 40]),
      },
    ],
  }
}

export const firstBegan = Date.parse("2026-11-20T10:00:00Z")

/** Of `returns-desk` a long conversation, `c-parcel`, and many short ones; of `night-shift` one run outside of any. */
export async function fillAgents(heddle: Heddle, project: string, turns = 25, others = 130): Promise<void> {
  const long = Array.from({ length: turns }, (_, index) =>
    turnOf({
      number: index + 1,
      began: firstBegan + index * 60_000,
      agent: "returns-desk",
      version: index < turns / 2 ? "1" : "2",
      conversation: "c-parcel",
      asks: index === 0 ? "My parcel came with a torn seam. What now?" : `And question ${index + 1}?`,
      answers:
        index === 1
          ? Array.from({ length: 60 }, (_line, line) => `Step ${line + 1} of the long answer.`).join("\n\n")
          : `Answer **${index + 1}**: the label is on its way.`,
      ...(index % 3 === 0
        ? {
            reasoning: "The order has to be looked up first.",
            tool: {
              name: "lookup_order",
              given: `{"order": ${1000 + index}}`,
              returned: `{"state": "delivered", "seam": "torn"}`,
              ...(index === 3 ? { error: "the warehouse did not answer" } : {}),
            },
          }
        : {}),
    }),
  )
  const short = Array.from({ length: others }, (_, index) =>
    turnOf({
      number: 1000 + index,
      began: firstBegan + 3_600_000 + index * 30_000,
      agent: index % 4 === 0 ? "size-advisor" : "returns-desk",
      version: index % 4 === 0 ? "2026-11" : "2",
      conversation: `c-${String(index).padStart(3, "0")}`,
      asks: `Does the jacket of order ${4000 + index} come in a larger size?`,
      answers: "It does, in M and L.",
    }),
  )
  const alone = turnOf({
    number: 5000,
    began: firstBegan + 1_800_000,
    agent: "night-shift",
    asks: "Sum up the returns of today.",
    answers: "12 returns, 3 of them torn.",
  })
  await sendTurns(heddle, project, [...long, ...short, alone])
}
