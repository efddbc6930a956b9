/**
 * What chats share whose prompts begin alike, in time that does not grow with them: base model, weights, cache salt, and the
 * first characters of the first messages up to the first of the user. Later turns of a conversation have the same, and so
 * have the members of a group of rollouts.
 */
import { hash } from "node:crypto"
import type { EngineParams } from "../engine.ts"

const mostMessages = 4
const mostParts = 4
const mostCharacters = 512
const mostIds = 256

type Sampled = EngineParams<"chat"> | EngineParams<"embed">

export function conversationKey(params: Sampled): string {
  const { base, adapter, cache_salt: salt = "" } = params
  return hash("sha256", JSON.stringify([base.name, adapter?.key ?? null, salt, ...beginningOf(params)]), "base64url")
}

function beginningOf(params: Sampled): unknown[] {
  if (params.prompt_token_ids != null) return params.prompt_token_ids.slice(0, mostIds)
  if (params.prompt != null) return [params.prompt.slice(0, mostCharacters)]
  return "messages" in params ? textsOf(params.messages ?? []) : []
}

function textsOf(messages: readonly { role: string; content?: unknown }[]): string[] {
  const texts: string[] = []
  for (const { role, content } of messages.slice(0, mostMessages)) {
    texts.push(role, ...partsOf(content))
    if (role === "user") break
  }
  return texts
}

function partsOf(content: unknown): string[] {
  if (typeof content === "string") return [content.slice(0, mostCharacters)]
  if (!Array.isArray(content)) return []
  return content.slice(0, mostParts).flatMap((part: { text?: unknown } | null) => {
    const text = part?.text
    return typeof text === "string" ? [text.slice(0, mostCharacters)] : []
  })
}
