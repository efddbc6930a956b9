/**
 * What this browser keeps of somebody's work on a queue, so that nothing is lost when a page is loaded again or the server
 * is away: drafts, what waits to be sent, and what can be taken back. A key an item: two tabs do not undo each other. What
 * it has no room for is lost with the page alone.
 */
import { parseExact } from "../json/exact-json.ts"
import { putText } from "../kept/put-text.ts"
import type { Draft } from "./label-draft.ts"
import type { SentItem, WaitingItem } from "./label-session.ts"

export interface LabelMemory {
  drafts: () => Map<string, Draft>
  setDraft: (itemId: string, draft: Draft | null) => void
  waiting: () => WaitingItem[]
  setWaiting: (itemId: string, entry: WaitingItem | null) => void
  done: () => SentItem[]
  setDone: (items: readonly SentItem[]) => void
}

export function browserMemory(storage: Storage, userId: string, queueId: string): LabelMemory {
  const prefix = `heddle.label.${userId}.${queueId}`
  const keysOf = (kind: string) =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "").filter((key) =>
      key.startsWith(`${prefix}.${kind}.`),
    )
  const read = <Kept>(key: string): Kept[] => {
    try {
      return [parseExact(storage.getItem(key) ?? "") as Kept]
    } catch {
      return []
    }
  }
  const write = (kind: string, itemId: string, value: unknown) => {
    const key = `${prefix}.${kind}.${itemId}`
    if (value === null) storage.removeItem(key)
    else putText(storage, key, JSON.stringify(value))
  }
  return {
    drafts: () =>
      new Map(
        keysOf("draft").flatMap((key) =>
          read<Draft>(key).map((draft) => [key.slice(`${prefix}.draft.`.length), draft] as const),
        ),
      ),
    setDraft: (itemId, draft) => write("draft", itemId, draft),
    waiting: () =>
      keysOf("waiting")
        .flatMap(read<WaitingItem>)
        .toSorted((a, b) => a.at - b.at),
    setWaiting: (itemId, entry) => write("waiting", itemId, entry),
    done: () => read<SentItem[]>(`${prefix}.done`)[0] ?? [],
    setDone: (items) => void putText(storage, `${prefix}.done`, JSON.stringify(items)),
  }
}
