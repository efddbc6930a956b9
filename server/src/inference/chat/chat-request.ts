/** Turns a chat request into the engine's parameters: inference-api 3 and 4, training-api 4.4. */
import type { SamplingCall } from "../../gateway/gateway.ts"
import type { EngineChatParamsInput } from "../../wire/engine/chat.ts"
import type { ChatRequest } from "../../wire/inference/chat.ts"
import { toSampling } from "../sampling.ts"
import { toStructuredOutput } from "../structured-output.ts"
import { refused, refusePromptLogprobsOfStream, refuseUnsupported } from "../unsupported.ts"

/** @throws {HeddleError} `invalid_request` for what is well-formed and cannot be served. */
export function toChatCall(body: ChatRequest): SamplingCall {
  refuseUnsupported(body)
  refusePromptLogprobsOfStream(body)
  if (body["echo"] === true) throw refused("echo", "only for /v1/completions; the prompt's ids are in prompt_token_ids")
  const topLogprobs = body.top_logprobs ?? 0
  if (topLogprobs > 0 && body.logprobs !== true) throw refused("top_logprobs", "needs logprobs: true")
  const continues = body.continue_final_message ?? false
  if (continues && body.add_generation_prompt === true) {
    throw refused("continue_final_message", "not together with add_generation_prompt: true")
  }
  const tools = toEngineTools(body)
  const structured = toStructuredOutput(body)
  const asksForCall = tools.tool_choice !== "auto" && tools.tool_choice !== "none"
  if (structured !== null && asksForCall)
    throw refused(structured.param, "not together with a tool_choice that asks for a call")
  const beginsTurn = body.add_generation_prompt ?? !continues
  if (asksForCall && !beginsTurn) throw refused("tool_choice", noTurn)
  return {
    messages: toEngineMessages(body.messages),
    ...tools,
    structured_output: structured,
    chat_template_kwargs: { ...effortVariables(body), ...templateVariables(body.chat_template_kwargs) },
    add_generation_prompt: beginsTurn,
    continue_final_message: continues,
    n: body.n ?? 1,
    prompt_logprobs: body.prompt_logprobs ?? null,
    sampling: toSampling(body, body.max_completion_tokens ?? body.max_tokens ?? null, topLogprobs),
  }
}

const noTurn =
  "a call that is asked for begins a turn of the assistant, and this prompt begins none; end it with another turn, or let the model choose"

/** Some templates read `reasoning`, others `reasoning_content`, so a turn gets both (inference-api 4). */
export function toEngineMessages(messages: ChatRequest["messages"]): ChatRequest["messages"] {
  return messages.map((message) => {
    const reasoning = message["reasoning"] ?? message["reasoning_content"]
    return reasoning == null ? message : { ...message, reasoning, reasoning_content: reasoning }
  })
}

/** As vLLM: the effort is a template variable, and `none` switches thinking off. The caller's own variables win. */
function effortVariables({ reasoning_effort: effort }: ChatRequest): Record<string, unknown> {
  return effort == null ? {} : { reasoning_effort: effort, enable_thinking: effort !== "none" }
}

// Tools: clients send them in several forms, the engine has two fields (inference-api 3).

type EngineTools = Pick<EngineChatParamsInput, "tools" | "tool_choice">
type Tool = Record<string, unknown>
type Choice = NonNullable<EngineChatParamsInput["tool_choice"]>

/** Without tools the choice is `none`; with them `auto` unless said otherwise. */
export function toEngineTools(
  body: Pick<ChatRequest, "tools" | "tool_choice" | "functions" | "function_call">,
): EngineTools {
  const tools = [
    ...(body.tools ?? []).map(wrapped),
    ...(body.functions ?? []).map((each) => ({ type: "function", function: each })),
  ]
  if (tools.length === 0) {
    const field = body.tool_choice == null ? "function_call" : "tool_choice"
    const choice = body[field]
    if (choice === "required" || (typeof choice === "object" && choice !== null))
      throw refused(field, "it asks for a tool call, but there are no tools")
    return { tools: null, tool_choice: "none" }
  }
  return choose(tools, body.tool_choice ?? body.function_call ?? "auto")
}

function wrapped(tool: Tool, place: number): Tool {
  if (tool["type"] === "function" && typeof nameOf(tool) === "string") return tool
  if (tool["type"] === undefined) return { type: "function", function: tool }
  if (tool["type"] === "function") throw refused(`tools[${place}]`, "its function, an object with a name, is missing")
  throw refused(`tools[${place}]`, `only function tools are supported, not ${JSON.stringify(tool["type"])}`)
}

function choose(
  tools: Tool[],
  choice: NonNullable<ChatRequest["tool_choice"] | ChatRequest["function_call"]>,
): EngineTools {
  if (typeof choice === "string") return { tools, tool_choice: choice }
  const fields = choice as Record<string, unknown>
  if (fields["type"] === "allowed_tools")
    return allowed(tools, fields["allowed_tools"] as { mode: "auto" | "required"; tools: Tool[] })
  const name = "function" in fields ? nameOf(fields) : fields["name"]
  if (typeof name !== "string")
    throw refused("tool_choice", `${JSON.stringify(fields["type"])} is not supported; name a function`)
  requireTool(tools, name)
  return { tools, tool_choice: { name } satisfies Choice }
}

function allowed(tools: Tool[], { mode, tools: subset }: { mode: "auto" | "required"; tools: Tool[] }): EngineTools {
  for (const tool of subset) requireTool(tools, nameOf(tool))
  if (mode === "required" && subset.length === 0)
    throw refused("tool_choice", "it asks for a tool call and allows none")
  const names = new Set(subset.map(nameOf))
  return { tools: tools.filter((tool) => names.has(nameOf(tool))), tool_choice: mode }
}

function requireTool(tools: readonly Tool[], name: unknown): void {
  if (!tools.some((tool) => nameOf(tool) === name))
    throw refused("tool_choice", `there is no tool named "${String(name)}"`)
}

function nameOf(tool: Tool): unknown {
  return (tool["function"] as { name?: unknown } | undefined)?.name
}

// Variables of the chat template that the request sets (inference-api 4).

/** Variables that have a field of their own in the request. */
const fieldVariables = [
  "messages",
  "tools",
  "documents",
  "add_generation_prompt",
  "continue_final_message",
  "chat_template",
]

/** Variables that come from the model, or from the renderer. */
const givenVariables = ["bos_token", "eos_token", "unk_token", "pad_token", "tokenize", "self"]

/** @throws {HeddleError} `invalid_request` for a variable that is set elsewhere. */
export function templateVariables(given: Record<string, unknown> | null | undefined): Record<string, unknown> {
  for (const name of Object.keys(given ?? {})) {
    const param = `chat_template_kwargs.${name}`
    if (fieldVariables.includes(name)) throw refused(param, `give it as the field ${name} of the request`)
    if (givenVariables.includes(name)) throw refused(param, "the model's own is used; leave it out")
  }
  return given ?? {}
}
