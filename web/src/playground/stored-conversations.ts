/** Conversations of this tab, in its session storage: a reload finds them again, and another tab has its own. */
import type { Conversation, Turn } from "./conversation.ts"

interface Store {
  getItem: (key: string) => string | null
  setItem: (key: string, value: string) => void
  removeItem: (key: string) => void
}

const keyOf = (id: string) => `heddle.playground.${id}`
const listKey = "heddle.playground"
/** Older ones make room. */
const mostKept = 20

/** Whether it is kept; false: the browser has no room for it. */
export function keepConversation(store: Store, id: string, conversation: Conversation): boolean {
  const kept = [id, ...keptIds(store).filter((other) => other !== id)]
  for (const old of kept.splice(mostKept)) store.removeItem(keyOf(old))
  const text = JSON.stringify(conversation)
  if (put(store, keyOf(id), text)) return put(store, listKey, JSON.stringify(kept))
  for (const old of kept.splice(1)) store.removeItem(keyOf(old))
  return (
    (put(store, keyOf(id), text) || put(store, keyOf(id), withoutTokens(conversation))) &&
    put(store, listKey, JSON.stringify(kept))
  )
}

/** null: this tab does not have it. What ran when it was left has been stopped. */
export function keptConversation(store: Store, id: string): Conversation | null {
  const text = store.getItem(keyOf(id))
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

function keptIds(store: Store): string[] {
  return JSON.parse(store.getItem(listKey) ?? "[]") as string[]
}

function put(store: Store, key: string, value: string): boolean {
  try {
    store.setItem(key, value)
    return true
  } catch {
    return false
  }
}
