/** Tools of a chat request, in every form clients send, to the engine's two fields (inference-api 3). */
import type { EngineChatParamsInput } from "../wire/engine/chat.ts"
import type { ChatRequest } from "../wire/inference/chat.ts"
import { refused } from "./unsupported.ts"

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
    const choice = body.tool_choice
    if (choice === "required" || (typeof choice === "object" && choice !== null))
      throw refused("tool_choice", "it asks for a tool call, but there are no tools")
    return { tools: null, tool_choice: "none" }
  }
  return choose(tools, body.tool_choice ?? body.function_call ?? "auto")
}

function wrapped(tool: Tool, place: number): Tool {
  if (tool["type"] === "function" && "function" in tool) return tool
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
  if ("allowed_tools" in fields)
    return allowed(tools, fields["allowed_tools"] as { mode: "auto" | "required"; tools: Tool[] })
  const name = "function" in fields ? nameOf(fields) : fields["name"]
  if (typeof name !== "string")
    throw refused("tool_choice", `${JSON.stringify(fields["type"])} is not supported; name a function`)
  if (!tools.some((tool) => nameOf(tool) === name)) throw refused("tool_choice", `there is no tool named "${name}"`)
  return { tools, tool_choice: { name } satisfies Choice }
}

function allowed(tools: Tool[], { mode, tools: subset }: { mode: "auto" | "required"; tools: Tool[] }): EngineTools {
  const names = new Set(subset.map(nameOf))
  return { tools: tools.filter((tool) => names.has(nameOf(tool))), tool_choice: mode }
}

function nameOf(tool: Tool): unknown {
  return (tool["function"] as { name?: unknown } | undefined)?.name
}
