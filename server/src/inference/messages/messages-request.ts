/** A request of Anthropic's form to the engine's parameters (art-0.5.23 7), by the rules of a chat. */
import { HeddleError } from "../../errors.ts"
import type { SamplingCall } from "../../gateway/gateway.ts"
import type { ChatRequest } from "../../wire/inference/chat.ts"
import type { CountTokensRequest, MessagesRequest } from "../../wire/inference/messages.ts"
import { samplerFields } from "../../wire/inference/sampling.ts"
import { type ChatForm, toProtocolCall } from "../protocol-call.ts"
import { isNonEmpty, isSet, type Refusals, refused, refuseUnsupported } from "../unsupported.ts"
import { toChatMessages } from "./messages-prompt.ts"

/** Parts of a request that the engine gets as the client wrote them. */
export const exactMessagesFields = ["messages", "system", "tools", "output_config", "chat_template_kwargs"] as const

const refusals: Refusals = {
  n: { isUsed: (value) => isSet(value) && value !== 1, why: "a request has one answer; send it several times" },
  stop: { isUsed: isNonEmpty, why: "name it stop_sequences" },
  container: { isUsed: isSet, why: "the server runs no tools; run them in your program" },
  mcp_servers: { isUsed: isNonEmpty, why: "the server calls no tools; call them in your program" },
  context_management: { isUsed: isSet, why: "prompts are never edited; shorten the messages" },
  output_format: { isUsed: isSet, why: "name it output_config.format" },
  response_format: { isUsed: isSet, why: "name it output_config.format" },
}

/**
 * @throws {HeddleError} `invalid_request` for what is well-formed and cannot be served, `not_found` for a thread to go on
 * with.
 */
export function toMessagesCall(body: MessagesRequest): SamplingCall {
  refuseHeldThread(body)
  const sampler = Object.fromEntries(Object.keys(samplerFields).map((name) => [name, body[name]]))
  return toProtocolCall({
    ...promptForm(body),
    ...sampler,
    model: body.model,
    max_tokens: body.max_tokens,
    stop: body.stop_sequences,
  })
}

/**
 * A thread may be lost at any time in Anthropic's own API too: @anthropic-ai/sdk 1.12.0 and anthropic 2.14.0 read the
 * `error_code` and send the whole conversation. What came with `continue` is the newest turn alone, without its tools.
 */
function refuseHeldThread({ thread }: MessagesRequest): void {
  if (thread?.type !== "continue") return
  const message =
    `thread: no conversation is held under "${thread.previous_message_id ?? ""}", as none is here; ` +
    "send all of its messages, with system and tools, and without thread"
  throw new HeddleError("not_found", message, { param: "thread", extras: { error_code: "thread_not_found" } })
}

/** The prompt that the answer would be sampled after. @throws {HeddleError} as {@link toMessagesCall}. */
export function toPromptCall(body: CountTokensRequest): SamplingCall {
  return toProtocolCall(promptForm(body))
}

function promptForm(body: CountTokensRequest): ChatForm {
  refuseUnsupported(body, refusals)
  const messages = toChatMessages(body)
  return {
    model: body.model,
    messages,
    tools: body.tools?.map(toChatTool),
    tool_choice: toChatChoice(body.tool_choice),
    reasoning_effort: body.output_config?.effort,
    chat_template_kwargs: { ...thinkingVariables(body), ...body.chat_template_kwargs },
    continue_final_message: endsOpen(messages),
    structured: structured(body),
  }
}

/** The budget is no limit of its own: `max_tokens` bounds thinking and answer together. */
function thinkingVariables({ thinking }: CountTokensRequest): Record<string, unknown> {
  return thinking == null ? {} : { enable_thinking: thinking.type !== "disabled" }
}

/** An answer begins where a last turn of the assistant ends, as Anthropic's API does it. */
function endsOpen(messages: ChatRequest["messages"]): boolean {
  const last = messages.at(-1)
  if (last?.role !== "assistant") return false
  if (last["tool_calls"] !== undefined)
    throw refused("messages", "the last turn calls a tool; add a user's turn with its tool_result")
  return last.content !== ""
}

function toChatTool(
  { name, type, description, input_schema: parameters }: NonNullable<CountTokensRequest["tools"]>[number],
  place: number,
): Record<string, unknown> {
  if (type != null && type !== "custom")
    throw refused(
      `tools[${place}]`,
      `the server runs no tools of its own, such as "${type}"; give a tool with an input_schema`,
    )
  return {
    type: "function",
    function: { name, ...(description == null ? {} : { description }), ...(parameters == null ? {} : { parameters }) },
  }
}

type ChatChoice = Pick<ChatForm, "tool_choice">["tool_choice"]

function toChatChoice(choice: CountTokensRequest["tool_choice"]): ChatChoice {
  if (choice == null) return undefined
  if (choice.type === "any") return "required"
  if (choice.type !== "tool") return choice.type
  if (choice.name == null) throw refused("tool_choice.name", "the name of the tool is missing")
  return { type: "function", function: { name: choice.name } }
}

function structured({ output_config: config }: CountTokensRequest): ChatForm["structured"] {
  const format = config?.format
  if (format == null) return undefined
  const param = "output_config.format"
  if (format.type !== "json_schema") throw refused(param, `the type "${format.type}" is not known; use "json_schema"`)
  return { format: { type: "json_schema", json_schema: { schema: format.schema } }, param }
}
