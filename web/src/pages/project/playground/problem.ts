import { type Parameters, parameterProblem, schemaProblem, toolsProblem } from "../../../playground/completion-body.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import type { PlaygroundSearch } from "./playground-search.ts"

export const numberParameters = ["temperature", "top_p", "max_tokens", "seed"] as const

/** What of the settings cannot be sent, in a sentence; null: nothing. */
export function settingsProblem(
  { tools, schema }: Pick<Conversation, "tools" | "schema">,
  parameters: Parameters,
): string | null {
  for (const name of numberParameters) {
    const problem = parameterProblem(name, parameters[name] ?? "")
    if (problem !== null) return problem
  }
  return toolsProblem(tools) ?? schemaProblem(schema)
}

/** Why nothing can be asked as it stands, in a sentence; null: it can. */
export function problemOf(conversation: Conversation, search: PlaygroundSearch): string | null {
  const wrong = settingsProblem(conversation, search)
  if (wrong !== null) return wrong
  const { prompt } = conversation
  const hasMessage = prompt.some(({ text, toolCalls = [] }) => text.trim() !== "" || toolCalls.length > 0)
  return hasMessage ? null : "Write a message first."
}
