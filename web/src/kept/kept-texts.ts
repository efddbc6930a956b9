/** Texts that a browser keeps by kind and id, for pages that are opened or loaded again. */
import { putText } from "./put-text.ts"

export interface TextStore {
  getItem: (key: string) => string | null
  setItem: (key: string, value: string) => void
  removeItem: (key: string) => void
}

/** Of one kind; older ones make room. */
const mostKept = 20

const listKey = (kind: string) => `heddle.${kind}`
const textKey = (kind: string, id: string) => `${listKey(kind)}.${id}`

/** Short enough for an address; browsers have `randomUUID` on https alone. */
export function newTextId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** Whether it is kept. A browser that is short of room loses the older ones of the kind; false: it has no room even then. */
export function keepText(store: TextStore, kind: string, id: string, text: string): boolean {
  const kept = [id, ...keptIds(store, kind).filter((other) => other !== id)]
  const forget = (from: number) => {
    for (const old of kept.splice(from)) store.removeItem(textKey(kind, old))
  }
  const put = () => putText(store, textKey(kind, id), text) && putText(store, listKey(kind), JSON.stringify(kept))
  forget(mostKept)
  if (put()) return true
  forget(1)
  return put()
}

/** null: this browser keeps none of this id, or no longer. */
export function keptText(store: TextStore, kind: string, id: string): string | null {
  return store.getItem(textKey(kind, id))
}

function keptIds(store: TextStore, kind: string): string[] {
  return JSON.parse(store.getItem(listKey(kind)) ?? "[]") as string[]
}
