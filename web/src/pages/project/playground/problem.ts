import { parameterProblem, schemaProblem, toolsProblem } from "../../../playground/completion-body.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import type { PlaygroundSearch } from "./playground-search.ts"

export const numberParameters = ["temperature", "top_p", "max_tokens", "seed"] as const

/** Why nothing can be asked as it stands, in a sentence; null: it can. */
export function problemOf({ prompt, tools, schema }: Conversation, search: PlaygroundSearch): string | null {
  for (const name of numberParameters) {
    const problem = parameterProblem(name, search[name] ?? "")
    if (problem !== null) return problem
  }
  const wrong = toolsProblem(tools) ?? schemaProblem(schema)
  if (wrong !== null) return wrong
  const hasMessage = prompt.some(({ text, toolCalls = [] }) => text.trim() !== "" || toolCalls.length > 0)
  return hasMessage ? null : "Write a message first."
}
