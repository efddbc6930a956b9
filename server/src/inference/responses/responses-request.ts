/** A request of OpenAI's Responses to the engine's parameters (art-0.5.23 6), by the rules of a chat. */
import type { SamplingCall } from "../../gateway/gateway.ts"
import type { ResponseInputItem, ResponsesRequest } from "../../wire/inference/responses.ts"
import { samplerFields } from "../../wire/inference/sampling.ts"
import { type ChatForm, toProtocolCall } from "../protocol-call.ts"
import { isNonEmpty, isSet, type Refusals, refused, refuseUnsupported } from "../unsupported.ts"
import { toChatMessages } from "./response-items.ts"

/** Parts of a request that the engine gets as the client wrote them. */
export const exactResponsesFields = ["input", "tools", "text", "metadata", "chat_template_kwargs", "seed"] as const

const refusals: Refusals = {
  background: { isUsed: (value) => value === true, why: "answers are not made in the background; use stream: true" },
  conversation: { isUsed: isSet, why: "conversations are not kept; go on with previous_response_id" },
  prompt: { isUsed: isSet, why: "prompts are not kept here; send instructions and input" },
  truncation: {
    isUsed: (value) => isSet(value) && value !== "disabled",
    why: "prompts are never cut; shorten the input",
  },
  context_management: { isUsed: isNonEmpty, why: "prompts are never edited; shorten the input" },
  n: { isUsed: (value) => isSet(value) && value !== 1, why: "a request has one answer; send it several times" },
  stop: { isUsed: isNonEmpty, why: "this API has no stop texts; use /v1/chat/completions" },
  messages: { isUsed: isSet, why: "name them input" },
  max_tokens: { isUsed: isSet, why: "name it max_output_tokens" },
  response_format: { isUsed: isSet, why: "name it text.format" },
}

/**
 * @param earlier items of the answer that the request goes on from, and what was before it.
 * @throws {HeddleError} `invalid_request` for what is well-formed and cannot be served.
 */
export function toResponsesCall(
  body: ResponsesRequest,
  items: readonly ResponseInputItem[],
  earlier: readonly ResponseInputItem[],
): SamplingCall {
  refuseUnsupported(body, refusals)
  const sampler = Object.fromEntries(Object.keys(samplerFields).map((name) => [name, body[name]]))
  return toProtocolCall({
    ...sampler,
    model: body.model,
    messages: [
      ...(body.instructions == null ? [] : [{ role: "system" as const, content: body.instructions }]),
      ...toChatMessages(earlier, "previous_response_id"),
      ...toChatMessages(items, "input"),
    ],
    max_tokens: body.max_output_tokens,
    top_logprobs: body.top_logprobs,
    tools: body.tools?.map(toChatTool),
    tool_choice: toChatChoice(body.tool_choice),
    reasoning_effort: body.reasoning?.effort,
    chat_template_kwargs: body.chat_template_kwargs ?? {},
    structured: structured(body),
  })
}

function toChatTool(tool: NonNullable<ResponsesRequest["tools"]>[number], place: number): Record<string, unknown> {
  const { type, name, description, parameters, strict } = tool
  if (type !== "function")
    throw refused(
      `tools[${place}]`,
      `the server runs no tools of its own, such as "${type}"; give a tool of the type "function"`,
    )
  if (name == null) throw refused(`tools[${place}].name`, "the name of the function is missing")
  const given = Object.entries({ description, parameters, strict }).filter(([, value]) => value != null)
  return { type, function: { name, ...Object.fromEntries(given) } }
}

function toChatChoice(choice: ResponsesRequest["tool_choice"]): ChatForm["tool_choice"] {
  if (choice == null || typeof choice === "string") return choice ?? undefined
  if (choice.type === "allowed_tools") {
    const { mode, tools } = choice as { mode: "auto" | "required"; tools: NamedTool[] }
    const named = tools.map((tool, place) => toNamed(tool, `tool_choice.tools[${place}]`))
    return { type: "allowed_tools", allowed_tools: { mode, tools: named } }
  }
  if (choice.type !== "function") return { type: choice.type }
  return toNamed(choice as NamedTool, "tool_choice")
}

interface NamedTool {
  type: string
  name?: string | null
}

function toNamed({ type, name }: NamedTool, param: string): { type: "function"; function: { name: string } } {
  if (type !== "function") throw refused(param, `"${type}" is not supported; name a function`)
  if (name == null) throw refused(`${param}.name`, "the name of the function is missing")
  return { type: "function", function: { name } }
}

function structured({ text }: ResponsesRequest): ChatForm["structured"] {
  const format = text?.format
  if (format == null) return undefined
  const param = "text.format"
  if (!["text", "json_object", "json_schema"].includes(format.type))
    throw refused(param, `the type "${format.type}" is not supported; use "text", "json_object" or "json_schema"`)
  return { format: { type: format.type, json_schema: { schema: format.schema } }, param }
}
