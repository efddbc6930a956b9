/** Conversations of this tab, in its session storage: a reload finds them again, and another tab has its own. */
import { keepText, keptText, type TextStore } from "../kept/kept-texts.ts"
import type { Conversation, Turn } from "./conversation.ts"

const kind = "playground"

/** Whether it is kept; false: the browser has no room for it. */
export function keepConversation(store: TextStore, id: string, conversation: Conversation): boolean {
  return (
    keepText(store, kind, id, JSON.stringify(conversation)) || keepText(store, kind, id, withoutTokens(conversation))
  )
}

/** null: this tab does not have it. What ran when it was left has been stopped. */
export function keptConversation(store: TextStore, id: string): Conversation | null {
  const text = keptText(store, kind, id)
  if (text === null) return null
  const conversation = JSON.parse(text) as Conversation
  const columns = conversation.columns.map((column) => ({ ...column, turns: column.turns.map(ended) }))
  return { ...conversation, columns }
}

function ended(turn: Turn): Turn {
  return turn.answer?.state === "running" ? { ...turn, answer: { ...turn.answer, state: "stopped" } } : turn
}

/** Probabilities are most of it, and the text is readable without them. */
function withoutTokens(conversation: Conversation): string {
  return JSON.stringify(conversation, (name, value: unknown) => (name === "tokens" ? [] : value))
}
