/** The request for one answer, as JSON text: tools, schemas and seeds go as they were written, with their numbers. */
import { isJsonObject } from "../json/parsed-json.ts"
import type { Turn } from "./conversation.ts"

export interface Parameters {
  temperature?: string | undefined
  top_p?: string | undefined
  max_tokens?: string | undefined
  seed?: string | undefined
  stop?: string[] | undefined
}

interface CompletionRequest {
  projectId: string
  /** Groups the calls of one conversation. */
  conversationId: string
  model: string
  turns: readonly Turn[]
  tools: string
  schema: string
  parameters: Parameters
  /** The last turn is the beginning of the answer; the model continues it. */
  isBegun?: boolean
}

/** Alternatives per token of an answer. */
const alternatives = 5

export function completionBody(request: CompletionRequest): string {
  const { model, turns, tools, schema, parameters } = request
  const { temperature, top_p, max_tokens, seed, stop = [] } = parameters
  const inputs = [
    member("model", JSON.stringify(model)),
    member("messages", JSON.stringify(turns.map(wireMessage))),
    ...[
      ["temperature", temperature],
      ["top_p", top_p],
      ["max_tokens", max_tokens],
      ["seed", seed],
    ].flatMap(([name, value]) => (value ? [member(name ?? "", value)] : [])),
    ...(stop.length > 0 ? [member("stop", JSON.stringify(stop))] : []),
    ...(tools.trim() === "" ? [] : [member("tools", tools)]),
    ...(schema.trim() === ""
      ? []
      : [
          member(
            "response_format",
            `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":${schema}}}`,
          ),
        ]),
    // Other services may not know these, and refuse them.
    ...(isOutside(model) ? [] : [member("logprobs", "true"), member("top_logprobs", `${alternatives}`)]),
    ...(request.isBegun === true
      ? [member("continue_final_message", "true"), member("add_generation_prompt", "false")]
      : []),
  ]
  return `{${[
    member("project_id", JSON.stringify(request.projectId)),
    member("conversation_id", JSON.stringify(request.conversationId)),
    member("source", '"playground"'),
    member("inputs", `{${inputs.join(",")}}`),
  ].join(",")}}`
}

/** A model of another service, which knows no probabilities. */
export function isOutside(model: string): boolean {
  return model.startsWith("custom::")
}

function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

/** As the server takes and stores a message. */
export function wireMessage({ role, text, toolCalls = [], toolCallId }: Turn): Record<string, unknown> {
  return {
    role,
    content: text === "" && toolCalls.length > 0 ? null : text,
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: text_ }) => ({
            id,
            type: "function",
            function: { name, arguments: text_ },
          })),
        }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  }
}

// As JSON has them, since they go into the request as they are written.
const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const jsonWhole = /^-?(0|[1-9]\d*)$/

/** The problem of a typed parameter, or null. */
export function parameterProblem(name: keyof Omit<Parameters, "stop">, text: string): string | null {
  if (text === "") return null
  const number = jsonNumber.test(text) ? Number(text) : Number.NaN
  const isWhole = jsonWhole.test(text)
  switch (name) {
    case "temperature":
      return number >= 0 && number <= 2 ? null : `Temperature is a number from 0 to 2, not “${text}”.`
    case "top_p":
      return number > 0 && number <= 1 ? null : `Top p is a number above 0, up to 1, not “${text}”.`
    case "max_tokens":
      return isWhole && number >= 1 ? null : `Max tokens is a whole number from 1, not “${text}”.`
    case "seed":
      return isWhole ? null : `Seed is a whole number, not “${text}”.`
  }
}

/** null: it is a list of tools, or nothing. */
export function toolsProblem(text: string): string | null {
  if (text.trim() === "") return null
  const read = parsed(text)
  if (read instanceof SyntaxError) return `This is no JSON: ${read.message}.`
  if (!Array.isArray(read)) return 'Tools are a list: [{"type": "function", "function": {"name": …}}].'
  const place = read.findIndex((tool) => typeof toolName(tool) !== "string")
  return place === -1
    ? null
    : `Tool ${place + 1} has no name: it is {"type": "function", "function": {"name": …, "parameters": {…}}}.`
}

export function toolNames(text: string): string[] {
  const read = parsed(text)
  return Array.isArray(read) ? read.map(toolName).filter((name) => typeof name === "string") : []
}

function toolName(tool: unknown): unknown {
  return (tool as { function?: { name?: unknown } } | null)?.function?.name
}

/** null: it is a schema, or nothing. */
export function schemaProblem(text: string): string | null {
  if (text.trim() === "") return null
  const read = parsed(text)
  if (read instanceof SyntaxError) return `This is no JSON: ${read.message}.`
  return isJsonObject(read) ? null : 'A schema is an object: {"type": "object", "properties": {…}}.'
}

function parsed(text: string): unknown {
  if (text.trim() === "") return null
  try {
    return JSON.parse(text)
  } catch (error) {
    return error
  }
}
